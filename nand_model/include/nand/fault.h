/* fault.h - what goes wrong: armed faults and power cuts.
 *
 * Everything is seeded, counted, and can be tied to "operation number n":
 * programs and erases issued to the device so far, 1 = the first one.
 * Works on any device, with or without cells and contents. */
#ifndef NAND_FAULT_H_
#define NAND_FAULT_H_

#include "nand/nand.h"

#ifdef __cplusplus
extern "C" {
#endif

enum nand_fault_kind {
    NAND_FAULT_FACTORY_BAD,     /* counted only; see profile.wearout */
    NAND_FAULT_WEAR_PROG,       /* counted only */
    NAND_FAULT_WEAR_ERASE,      /* counted only */
    NAND_FAULT_PROG_FAIL,       /* operation at_op fails, if it is a program */
    NAND_FAULT_ERASE_FAIL,      /* the same for an erase */
    NAND_FAULT_PLANE_STUCK,     /* from at_op on every operation of die, plane fails */
    NAND_FAULT_DIE_DEAD,        /* the same for all planes of die */
    NAND_FAULT_READ_UPSET,      /* each read returns garbage once with rate_ppm; the medium
                                 * is untouched, the next read is drawn anew */
    NAND_FAULT_KINDS
};

struct nand_fault {
    enum nand_fault_kind kind;
    uint64_t at_op;             /* > operations so far; READ_UPSET: 0 = from now on */
    uint32_t die, plane;        /* PLANE_STUCK, DIE_DEAD */
    uint32_t rate_ppm;          /* READ_UPSET: 0 (off) .. 1000000 */
};
enum { NAND_FAULTS_MAX = 16 };  /* armed at one time */
/* Errors: NAND_EINVAL (kind, at_op in the past, rate), NAND_EADDR, NAND_ENOMEM (17th). */
NAND_API int nand_fault_arm(nand_dev *dev, const struct nand_fault *fault);
NAND_API uint64_t nand_fault_count(const nand_dev *dev, enum nand_fault_kind kind);

/* ---- power cuts ------------------------------------------------------------- */
enum nand_cut_mode {
    NAND_CUT_BEFORE,            /* the operation never reached the medium */
    NAND_CUT_AFTER,             /* it ended, nobody saw its status */
    NAND_CUT_TORN_PROG,         /* its pages read as garbage */
    NAND_CUT_FAINT_PROG,        /* its pages look erased and are not clean: programmed
                                 * again they are garbage */
    NAND_CUT_TORN_ERASE,        /* the block reads as garbage until erased again */
    NAND_CUT_FAINT_ERASE,       /* it looks erased; what is programmed is garbage */
    NAND_CUT_PAIRED_PAGE,       /* TORN_PROG, and the acknowledged lower page (PAGED) is lost */
    NAND_CUT_MODES
};
/* What else was being programmed or erased on other dies at the cut. */
enum nand_cut_others { NAND_OTHERS_END, NAND_OTHERS_TORN, NAND_OTHERS_DRAWN };
struct nand_cut {
    uint64_t at_op;
    enum nand_cut_mode mode;
    enum nand_cut_others others;    /* DRAWN: end, torn or faint, by seed */
    uint64_t seed;
};
/* Cuts the power at operation at_op: it returns NAND_CUT, then everything is
 * refused with NAND_EOFF. A PROG mode that lands on an erase acts as the ERASE mode
 * of the same kind and the other way round. One cut may be armed; NULL disarms. */
NAND_API int nand_cut_arm(nand_dev *dev, const struct nand_cut *cut);
/* Cuts now; `others` says what happens to all operations under way at `now`. */
NAND_API int nand_cut_now(nand_dev *dev, nand_ns now, enum nand_cut_others others,
                          uint64_t seed);
/* Power is back: dies idle, registers empty, features and temperature as before.
 * Errors: NAND_EINVAL when it is on, NAND_ETIME. */
NAND_API int nand_power_on(nand_dev *dev, nand_ns now);
NAND_API uint64_t nand_cut_count(const nand_dev *dev, enum nand_cut_mode mode);

#ifdef __cplusplus
}
#endif
#endif
