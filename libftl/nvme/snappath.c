/* snappath.c - snapshots as files. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nvme/snapfile.h"

static int refuse(int err, char *why, size_t why_size, const char *path, const char *text)
{
    if (why != NULL)
        (void)snprintf(why, why_size, "%s: %s", path, text);
    return err;
}

static int file_sink(void *user, const void *bytes, size_t n)
{
    return fwrite(bytes, 1, n, user) == n ? 0 : -1;
}

static int file_source(void *user, void *ret, size_t n)
{
    return fread(ret, 1, n, user) == n ? 0 : -1;
}

int ftl_snapshot_save(const ftl_drive *d, enum ftl_snapshot_kind kind, const char *path,
                      const char *note, char *why, size_t why_size)
{
    char text[FTL_WHY_MAX] = "";

    if (d == NULL || path == NULL)
        return FTL_EINVAL;
    struct stat st;                 /* renaming would replace a device or a link */
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return refuse(FTL_EIO, why, why_size, path, "is there and not a plain file");
    size_t n = strlen(path) + sizeof ".part";
    char *beside = malloc(n);
    if (beside == NULL)
        return refuse(FTL_ENOMEM, why, why_size, path, "out of memory");
    (void)snprintf(beside, n, "%s.part", path);
    FILE *f = fopen(beside, "wb");
    if (f == NULL) {
        free(beside);
        return refuse(FTL_EIO, why, why_size, path, strerror(errno));
    }
    errno = 0;
    int err = ftl_snapshot_write(d, kind, note, file_sink, f, text, sizeof text);
    if (err == 0 && (fflush(f) != 0 || fsync(fileno(f)) != 0))
        err = FTL_EIO;
    int cause = errno;
    if (fclose(f) != 0 && err == 0) {
        err = FTL_EIO;
        cause = errno;
    }
    if (err == 0 && rename(beside, path) != 0) {
        err = FTL_EIO;
        cause = errno;
    }
    if (err < 0)
        (void)remove(beside);
    free(beside);
    return err < 0 ? refuse(err, why, why_size, path, err == FTL_EIO ? strerror(cause) : text) : 0;
}

static FILE *open_to_read(const char *path, char *why, size_t why_size)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        (void)refuse(FTL_EIO, why, why_size, path, strerror(errno));
    return f;
}

int ftl_snapshot_load(const char *path, const struct ftl_config *cfg,
                      const struct ftl_policies *policies, ftl_drive **ret_drive, char *why,
                      size_t why_size)
{
    char text[FTL_WHY_MAX] = "";
    ftl_drive *d = NULL;

    if (path == NULL || ret_drive == NULL)
        return FTL_EINVAL;
    FILE *f = open_to_read(path, why, why_size);
    if (f == NULL)
        return FTL_EIO;
    int err = ftl_snapshot_read(file_source, f, cfg, policies, &d, text, sizeof text);
    if (ferror(f)) {
        (void)snprintf(text, sizeof text, "could not be read");
        err = FTL_EIO;
    } else if (err == 0 && fgetc(f) != EOF) {
        (void)snprintf(text, sizeof text, "goes on after its end");
        err = FTL_ESNAPSHOT;
    }
    (void)fclose(f);
    if (err < 0) {
        ftl_destroy(d);
        return refuse(err, why, why_size, path, text);
    }
    *ret_drive = d;
    return 0;
}

int ftl_mount(const char *path, const struct ftl_config *cfg, const struct ftl_policies *policies,
              ftl_drive **ret_drive, struct ftl_power_report *report, char *why, size_t why_size)
{
    ftl_drive *d = NULL;

    if (ret_drive == NULL)
        return FTL_EINVAL;
    int err = ftl_snapshot_load(path, cfg, policies, &d, why, why_size);
    if (err < 0)
        return err;
    if (ftl_power_is_on(d)) {
        ftl_destroy(d);
        return refuse(FTL_ESNAPSHOT, why, why_size, path, "a state, not media: load it");
    }
    struct ftl_power_report last = {.struct_size = sizeof last};
    err = ftl_power_on(d, report);
    ftl_power_last(d, &last);
    if (err < 0) {
        char text[FTL_WHY_MAX];         /* the step that gave up says what is damaged */
        const char *step = last.step_count != 0 ? last.steps[last.step_count - 1].name : "power on";
        (void)snprintf(text, sizeof text, "%s: %s", step, ftl_strerror(err));
        ftl_destroy(d);
        return refuse(err, why, why_size, path, text);
    }
    *ret_drive = d;
    return 0;
}

int ftl_snapshot_info(const char *path, struct ftl_snapshot_info *ret, char *why, size_t why_size)
{
    char text[FTL_WHY_MAX] = "";
    struct snap_head h;
    struct ftl_config cfg;
    struct snap_in in;

    if (path == NULL || ret == NULL || ret->struct_size != sizeof *ret)
        return FTL_EINVAL;
    FILE *f = open_to_read(path, why, why_size);
    if (f == NULL)
        return FTL_EIO;
    int err = snap_in_open(&in, file_source, f, text, sizeof text);
    if (err == 0)
        err = snap_in_head(&in, &h, &cfg);
    snap_in_close(&in);
    (void)fclose(f);
    if (err < 0)
        return refuse(err, why, why_size, path, text);
    *ret = (struct ftl_snapshot_info){.struct_size = sizeof *ret, .version = h.version,
                                      .kind = h.kind, .seed = h.seed, .now = h.now,
                                      .loadable = h.kind == FTL_SNAPSHOT_MEDIA ||
                                                  h.layout == snap_layout()};
    ret->config = cfg;
    memcpy(ret->note, h.note, sizeof ret->note);
    return 0;
}
