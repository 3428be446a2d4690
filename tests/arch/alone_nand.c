/* alone_nand.c - a program with nand_model and nothing else of this project:
 * one word line is programmed and read back. */
#include <nand/nand.h>

#include <stdio.h>

static nand_ns now;

static int issue(nand_dev *dev, enum nand_op op, uint32_t page, uint32_t bytes)
{
    struct nand_req req = {.op = op, .addr = {.page = page}, .plane_mask = 1, .bytes = bytes};
    struct nand_res res;
    int err = nand_issue(dev, now, &req, &res);
    if (err) {
        fprintf(stderr, "operation %d at page %u: %s\n", (int)op, page, nand_strerror(err));
        return err;
    }
    now = res.done_at;
    return res.status == NAND_OK ? 0 : -1;
}

int main(void)
{
    const struct nand_profile *profile = nand_profile_find("etlc-x3-9070");
    nand_dev *dev = NULL;
    if (!profile || nand_create(profile, 1, &dev) < 0)
        return 1;
    int bad = 0;
    for (uint32_t page = 0; page < profile->geo.page_types; page++)
        bad |= issue(dev, NAND_OP_DATA_IN, page, profile->geo.page_bytes);
    bad |= issue(dev, NAND_OP_PROG, 0, 0);
    bad |= issue(dev, NAND_OP_READ, 1, 0);
    bad |= issue(dev, NAND_OP_DATA_OUT, 1, 4096);
    printf("word line written and read in %.1f us\n", (double)now * 1e-3);
    nand_destroy(dev);
    return bad != 0 || now == 0;
}
