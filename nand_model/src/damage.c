/* damage.c - the list of word lines that do not hold what was programmed.
 *
 * Rare: it grows with torn, faint and failed programs and shrinks with erases. A
 * sorted array: its order depends on addresses alone, so it saves and compares. */
#include <stdlib.h>
#include <string.h>

#include "dev.h"

static uint64_t key_of(size_t block, uint32_t page)
{
    return (uint64_t)block << 24 | page;
}

static uint32_t lower_bound(const struct nand_dev *dev, uint64_t key)
{
    uint32_t low = 0, high = dev->damage_count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (dev->damage[mid].key < key)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Damage covers what one program operation fills. */
uint32_t nandi_damage_key_page(const struct nand_dev *dev, uint32_t word, uint32_t page)
{
    if ((word & BF_SLC) || dev->prof.scheme == NAND_SCHEME_PAGED)
        return page;
    return page - dev_page_type(dev, page);
}

enum damage_kind nandi_damage_get(const struct nand_dev *dev, size_t block, uint32_t page)
{
    uint64_t key = key_of(block, nandi_damage_key_page(dev, dev->block[block].word, page));
    uint32_t i = lower_bound(dev, key);

    if (i < dev->damage_count && dev->damage[i].key == key)
        return (enum damage_kind)dev->damage[i].kind;
    return DAMAGE_NONE;
}

/* Called before an operation changes anything, so that marking never fails. */
int nandi_damage_reserve(struct nand_dev *dev, uint32_t more)
{
    uint32_t room = dev->damage_room;
    struct damage *grown;

    if (dev->damage_count + more <= room)
        return 0;
    room = (dev->damage_count + more) * 2 + 16;
    grown = realloc(dev->damage, room * sizeof *grown);
    if (!grown)
        return NAND_ENOMEM;
    dev->damage = grown;
    dev->damage_room = room;
    return 0;
}

void nandi_damage_set(struct nand_dev *dev, size_t block, uint32_t page, enum damage_kind kind)
{
    uint64_t key = key_of(block, nandi_damage_key_page(dev, dev->block[block].word, page));
    uint32_t i = lower_bound(dev, key);

    dev->block[block].word |= BF_DAMAGED;
    if (i < dev->damage_count && dev->damage[i].key == key) {
        dev->damage[i].kind = kind;
        return;
    }
    assert(dev->damage_count < dev->damage_room);
    memmove(&dev->damage[i + 1], &dev->damage[i],
            (dev->damage_count - i) * sizeof *dev->damage);
    dev->damage[i] = (struct damage){.key = key, .kind = kind};
    dev->damage_count++;
}

void nandi_damage_clear_block(struct nand_dev *dev, size_t block)
{
    uint32_t first = lower_bound(dev, key_of(block, 0));
    uint32_t last = lower_bound(dev, key_of(block + 1, 0));

    memmove(&dev->damage[first], &dev->damage[last],
            (dev->damage_count - last) * sizeof *dev->damage);
    dev->damage_count -= last - first;
    dev->block[block].word &= ~(uint32_t)BF_DAMAGED;
}
