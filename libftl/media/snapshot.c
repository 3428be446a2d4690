/* snapshot.c - the NAND of a drive as bytes. */
#include <string.h>

#include "media/media.h"
#include "nand/fault.h"
#include "nand/store.h"

int media_save(const struct media *m, int (*sink)(void *, const void *, size_t), void *user)
{
    return nand_save(m->nand, sink, user);
}

void media_point(struct media *m, const struct media *from)
{
    m->nand = from != NULL ? from->nand : NULL;
    m->heap = from != NULL ? from->heap : NULL;
    m->ctx = from != NULL ? from->ctx : NULL;
    m->slc = from != NULL ? from->slc : NULL;
    m->time = from != NULL ? from->time : NULL;
    m->program_bytes = from != NULL ? from->program_bytes : NULL;
    m->blocks.assemble = from != NULL ? from->blocks.assemble : NULL;
    m->blocks.assemble_user = from != NULL ? from->blocks.assemble_user : NULL;
    m->ecc.code = from != NULL ? from->ecc.code : NULL;
    m->decoder.code = from != NULL ? from->decoder.code : NULL;
}

bool media_is_scratch(const struct media *m, const void *array)
{
    return array == m->ecc.curves || array == m->decoder.space || array == m->decoder.word ||
           array == m->decoder.bins || array == m->decoder.llr;
}

/* The names are texts of the profile's owner. */
static bool is_same_part(const struct nand_profile *a, const struct nand_profile *b)
{
    return memcmp(&a->geo, &b->geo, sizeof a->geo) == 0 &&
           memcmp(&a->time, &b->time, sizeof a->time) == 0 && a->scheme == b->scheme;
}

int media_load(struct media *m, int (*source)(void *, void *, size_t), void *user)
{
    nand_dev *nand = NULL;
    int err = nand_load(source, user, &nand);

    if (err != 0)
        return err == NAND_ENOMEM ? FTL_ENOMEM : FTL_ESNAPSHOT;
    if (!is_same_part(nand_dev_profile(nand), nand_dev_profile(m->nand))) {
        nand_destroy(nand);
        return FTL_ESNAPSHOT;
    }
    nand_destroy(m->nand);
    m->nand = nand;
    m->time = &nand_dev_profile(nand)->time;
    return 0;
}
