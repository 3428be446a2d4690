/* log.h - inside journal.c, logshape.c, flush.c and recover.c: sectors, pages, records of the log. */
#ifndef FTL_CORE_LOG_H
#define FTL_CORE_LOG_H

#include "core/core.h"

enum { RECORD_HEAD = 4, LIFE_HEAD = 9, COUNTS_HEAD = 8, ROWS_HEAD = 8 };
/* Live units of as many superblocks as a sector takes. */
enum { COUNTS_MOST = (JOURNAL_BODY - RECORD_HEAD - COUNTS_HEAD) / 4 };

/* Body of the sector to be filled: of the open page, or when that is full of the next. */
uint8_t *core_log_sector(struct ftl_core *c);
/* Room in the open sector for a record of `bytes`. */
uint8_t *core_log_append(struct ftl_core *c, enum journal_record type, uint32_t bytes);
void core_log_close_sector(struct ftl_core *c, uint8_t kind, uint8_t param, uint32_t a, uint32_t b,
                           uint64_t seq);
void core_log_close_records(struct ftl_core *c);
/* The rest is filler; the page is written. */
void core_log_end_page(struct ftl_core *c);
void core_log_program_now(struct ftl_core *c, struct log_place at, int32_t buffer);
void core_log_begin_segment(struct ftl_core *c);
/* Parts of a checkpoint: its first record, the next superblock that is being written, the next
 * superblocks, the next part of the map; false = that is complete. */
void core_log_add_segment(struct ftl_core *c);
void core_log_add_rows(struct ftl_core *c);
void core_log_add_table(struct ftl_core *c);
bool core_log_add_map(struct ftl_core *c);
/* The segment after this one gives way. */
void core_log_erase_next(struct ftl_core *c);

#endif
