/* Reads the opening book in hashes.sob and moves.sob (format version 1).
 *
 * Made by tabiya @VERSION@ with its table of random numbers. One file, C99, no library but
 * the standard one. In one source file write
 *
 *     #define SOB_IMPLEMENTATION
 *     #include "opening_book.h"
 *
 * and in the others only the second line. Then
 *
 *     sob_book *book;
 *     if (sob_open("folder/hashes.sob", "folder/moves.sob", &book) == SOB_OK) {
 *         sob_move moves[SOB_MAX_MOVES];
 *         int count = sob_moves(book, fen, moves);   // negative: -(error)
 *         ...
 *         sob_close(book);
 *     }
 *
 * A book holds its index and one block in memory. For each thread its own book. Files end at
 * LONG_MAX bytes: at 2 GiB where long has 32 bits. */
#ifndef OPENING_BOOK_H
#define OPENING_BOOK_H

#include <stdint.h>

enum sob_error {
    SOB_OK, SOB_NOT_A_BOOK, SOB_TEXT_MODE_DAMAGE, SOB_CORRUPT, SOB_UNSUPPORTED, SOB_TRUNCATED,
    SOB_TRAILING_DATA, SOB_PAIR_MISMATCH, SOB_NEEDS_TABLE, SOB_BAD_BLOCK, SOB_NO_MEMORY, SOB_BAD_FEN
};

/* Room for the moves of a position. */
#define SOB_MAX_MOVES 256

typedef struct { char uci[6]; int rank; } sob_move;   /* rank: 15 best, 0 never to be played */
typedef struct sob_book sob_book;

int sob_open(const char *hashes_path, const char *moves_path, sob_book **book);
void sob_close(sob_book *book);
uint64_t sob_entries(const sob_book *book);
/* The words of a key, best first: how many, or -(error). */
int sob_words(sob_book *book, uint64_t key, uint16_t words[SOB_MAX_MOVES]);
/* The moves of a position, best first: how many, or -(error). */
int sob_moves(sob_book *book, const char *fen, sob_move moves[SOB_MAX_MOVES]);
/* The key of a position. `always`: the en passant file counts whoever stands ready. */
int sob_key(const char *fen, int always, uint64_t *key);
/* The name of an error, as "BadBlock". */
const char *sob_error_name(int error);

#endif

#ifdef SOB_IMPLEMENTATION
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char sob_table_sha256[32] = { @SHA256@ };
static const uint64_t sob_table[781] = {
@TABLE@
};

#define SOB_LARGEST_TABLE (2 + 3 * 4096 + 16)

typedef struct { uint64_t first, offset; uint32_t crc; unsigned count; } sob_block;
typedef struct { uint64_t offset, len; } sob_section;
typedef struct { unsigned counts[33], used; uint16_t symbols[4096]; } sob_codes;

typedef struct {
    FILE *file;
    int keyed, codec, properties, source, ep_rule, underpromotions;
    uint64_t entries, keys, size, stated, last;
    uint32_t blocks, table_crc, index_crc;
    unsigned char id[16], sha256[32];
    sob_section meta, table, data, index;
    sob_block *list;                                  /* blocks, and one that ends them */
} sob_half;

struct sob_book {
    sob_half hashes, moves;
    sob_codes squares, ranks;
    uint64_t *keys;
    uint16_t *words;
    unsigned count;                                   /* of the block in memory */
    uint32_t block;
    int has_keys, has_words;
};

const char *sob_error_name(int error) {
    static const char *const names[] = {
        "Ok", "NotABook", "TextModeDamage", "Corrupt", "Unsupported", "Truncated", "TrailingData",
        "PairMismatch", "NeedsTable", "BadBlock", "NoMemory", "BadFen"
    };
    return error < 0 || error > SOB_BAD_FEN ? "?" : names[error];
}

static uint32_t sob_u16(const unsigned char *b) { return b[0] | (uint32_t)b[1] << 8; }
static uint32_t sob_u32(const unsigned char *b) { return sob_u16(b) | sob_u16(b + 2) << 16; }
static uint64_t sob_u64(const unsigned char *b) { return sob_u32(b) | (uint64_t)sob_u32(b + 4) << 32; }

static uint32_t sob_crc(const unsigned char *data, size_t len) {
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < len; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0x82F63B78u : crc >> 1;
    }
    return ~crc;
}

static int sob_read(sob_half *h, uint64_t offset, void *to, size_t len) {
    if (offset + len > h->size || fseek(h->file, (long)offset, SEEK_SET) != 0) return SOB_TRUNCATED;
    return fread(to, 1, len, h->file) == len ? SOB_OK : SOB_TRUNCATED;
}

static int sob_header(sob_half *h, const unsigned char *b) {
    if (memcmp(b, "SOBH", 4) != 0 && memcmp(b, "SOBM", 4) != 0) return SOB_NOT_A_BOOK;
    h->keyed = b[3] == 'H';
    if (memcmp(b + 4, "\r\n\x1a\n", 4) != 0) return SOB_TEXT_MODE_DAMAGE;
    if (sob_crc(b, 252) != sob_u32(b + 252)) return SOB_CORRUPT;
    if (sob_u16(b + 8) != 1 || sob_u64(b + 16) > 1) return SOB_UNSUPPORTED;
    h->underpromotions = (int)(sob_u64(b + 16) & 1);
    h->entries = sob_u64(b + 32); h->keys = sob_u64(b + 40); h->blocks = sob_u32(b + 48);
    uint32_t target = sob_u32(b + 52);
    h->codec = b[56]; h->properties = b[58];
    if (b[57] != 0 || (h->codec != 0 && h->codec != 1 && h->codec != 3)) return SOB_UNSUPPORTED;
    memcpy(h->id, b + 64, 16); memcpy(h->sha256, b + 80, 32);
    h->source = b[112]; h->ep_rule = b[113];
    if (h->source > 2 || h->ep_rule > 2 || b[114] > 1 || b[115] != 64) return SOB_UNSUPPORTED;
    if (sob_u32(b + 12) != 256 || target < 256 || target > 32768 || h->blocks > 0x80000000u) return SOB_CORRUPT;
    if (h->codec == 1 && h->properties >= 225) return SOB_CORRUPT;
    sob_section *sections[4] = { &h->meta, &h->table, &h->data, &h->index };
    for (int i = 0; i < 4; i++) {
        sections[i]->offset = sob_u64(b + 120 + 16 * i);
        sections[i]->len = sob_u64(b + 128 + 16 * i);
    }
    h->stated = sob_u64(b + 184);
    h->table_crc = sob_u32(b + 196); h->index_crc = sob_u32(b + 200);
    if (h->size < h->stated) return SOB_TRUNCATED;
    if (h->size > h->stated) return SOB_TRAILING_DATA;
    /* Sections lie in the file, aligned, and apart. */
    for (int i = 0; i < 4; i++) {
        sob_section s = *sections[i];
        if (s.len == 0) continue;
        if (s.offset % 64 != 0 || s.offset < 256 || s.len > h->stated || s.offset > h->stated - s.len) return SOB_CORRUPT;
        for (int j = 0; j < i; j++) {
            sob_section t = *sections[j];
            if (t.len != 0 && s.offset < t.offset + t.len && t.offset < s.offset + s.len) return SOB_CORRUPT;
        }
    }
    return SOB_OK;
}

static int sob_index(sob_half *h) {
    uint64_t width = h->keyed ? 24 : 16, blocks = h->blocks, total = 0;
    if (h->index.len != (blocks + 1) * width) return SOB_CORRUPT;
    unsigned char *data = malloc((size_t)h->index.len);
    h->list = malloc((size_t)(blocks + 1) * sizeof *h->list);
    int error = !data || !h->list ? SOB_NO_MEMORY : sob_read(h, h->index.offset, data, (size_t)h->index.len);
    if (!error && sob_crc(data, (size_t)h->index.len) != h->index_crc) error = SOB_CORRUPT;
    for (uint64_t i = 0; !error && i <= blocks; i++) {
        const unsigned char *b = data + i * width;
        sob_block *block = &h->list[i];
        block->first = h->keyed ? sob_u64(b) : 0;
        if (h->keyed) b += 8;
        block->offset = sob_u64(b); block->crc = sob_u32(b + 8); block->count = sob_u16(b + 12);
        int ends = i == blocks;
        if (i == 0 && block->offset != 0) error = SOB_CORRUPT;
        if (i > 0 && block->offset <= h->list[i - 1].offset) error = SOB_CORRUPT;
        if (i > 0 && h->keyed && (ends ? block->first < h->list[i - 1].first : block->first <= h->list[i - 1].first)) error = SOB_CORRUPT;
        if (ends ? block->offset != h->data.len : block->count == 0) error = SOB_CORRUPT;
        if (ends) h->last = block->first; else total += block->count;
    }
    free(data);
    if (!error && (total != h->entries || h->keys < blocks || h->keys > total)) error = SOB_CORRUPT;
    return error;
}

static int sob_half_open(sob_half *h, const char *path) {
    unsigned char header[256];
    h->file = fopen(path, "rb");
    if (!h->file || fseek(h->file, 0, SEEK_END) != 0) return SOB_NOT_A_BOOK;
    long size = ftell(h->file);
    if (size < 256) return SOB_NOT_A_BOOK;
    h->size = (uint64_t)size;
    int error = sob_read(h, 0, header, sizeof header);
    if (!error) error = sob_header(h, header);
    return error ? error : sob_index(h);
}

/* Codes of symbols that come in ascending order, none of length 0. */
static int sob_codes_make(sob_codes *codes, const uint16_t *symbols, const unsigned char *lengths, unsigned count) {
    uint64_t space = 0;
    memset(codes, 0, sizeof *codes);
    for (unsigned i = 0; i < count; i++) {
        if (lengths[i] == 0 || lengths[i] > 32) return SOB_CORRUPT;
        space += (uint64_t)1 << (32 - lengths[i]);
        codes->counts[lengths[i]]++;
    }
    for (unsigned length = 1; length <= 32; length++)
        for (unsigned i = 0; i < count; i++)
            if (lengths[i] == length) codes->symbols[codes->used++] = symbols[i];
    int lone = count == 1 && lengths[0] == 1;
    return count == 0 || lone || space == (uint64_t)1 << 32 ? SOB_OK : SOB_CORRUPT;
}

static int sob_tables(sob_book *book) {
    static const uint16_t numbers[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    sob_half *halves[2] = { &book->moves, &book->hashes };
    for (int i = 0; i < 2; i++) {
        sob_half *h = halves[i];
        size_t len = (size_t)h->table.len;
        if (h->table.len > SOB_LARGEST_TABLE) return SOB_CORRUPT;
        unsigned char table[SOB_LARGEST_TABLE];
        int error = sob_read(h, h->table.offset, table, len);
        if (error) return error;
        if (sob_crc(table, len) != h->table_crc) return SOB_CORRUPT;
        if (h->keyed && h->source == 1 && len != 8 * 781) return SOB_CORRUPT;
        if (h->keyed || h->codec != 3) continue;
        unsigned count = len < 2 ? 0 : sob_u16(table);
        if (len < 18 || count > 4096 || len != 18 + 3 * (size_t)count) return SOB_CORRUPT;
        uint16_t symbols[4096], used[16];
        unsigned char lengths[4096];
        for (unsigned at = 0; at < count; at++) {
            symbols[at] = (uint16_t)sob_u16(table + 2 + 3 * at);
            lengths[at] = table[4 + 3 * at];
            if (symbols[at] > 4095 || (at > 0 && symbols[at] <= symbols[at - 1])) return SOB_CORRUPT;
        }
        error = sob_codes_make(&book->squares, symbols, lengths, count);
        if (error) return error;
        unsigned ranks = 0;
        for (unsigned rank = 0; rank < 16; rank++)
            if (table[len - 16 + rank] != 0) {
                used[ranks] = numbers[rank];
                lengths[ranks++] = table[len - 16 + rank];
            }
        error = sob_codes_make(&book->ranks, used, lengths, ranks);
        if (error) return error;
    }
    return SOB_OK;
}

static int sob_pair(const sob_half *h, const sob_half *m) {
    if (!h->keyed || m->keyed || memcmp(h->id, m->id, 16) != 0) return SOB_PAIR_MISMATCH;
    if (h->entries != m->entries || h->keys != m->keys || h->blocks != m->blocks) return SOB_PAIR_MISMATCH;
    for (uint32_t i = 0; i < h->blocks; i++)
        if (h->list[i].count != m->list[i].count) return SOB_PAIR_MISMATCH;
    return SOB_OK;
}

int sob_open(const char *hashes_path, const char *moves_path, sob_book **out) {
    sob_book *book = calloc(1, sizeof *book);
    *out = NULL;
    if (!book) return SOB_NO_MEMORY;
    int error = sob_half_open(&book->hashes, hashes_path);
    if (!error) error = sob_half_open(&book->moves, moves_path);
    if (!error) error = sob_pair(&book->hashes, &book->moves);
    if (!error) error = sob_tables(book);
    book->keys = malloc(65536 * sizeof *book->keys);
    book->words = malloc(65536 * sizeof *book->words);
    if (!error && (!book->keys || !book->words)) error = SOB_NO_MEMORY;
    if (error) sob_close(book); else *out = book;
    return error;
}

void sob_close(sob_book *book) {
    if (!book) return;
    if (book->hashes.file) fclose(book->hashes.file);
    if (book->moves.file) fclose(book->moves.file);
    free(book->hashes.list); free(book->moves.list); free(book->keys); free(book->words);
    free(book);
}

uint64_t sob_entries(const sob_book *book) { return book->hashes.entries; }

/* Bits, the most significant of a byte first. Past the end `bad` is set and zeros come. */
typedef struct { const unsigned char *data; size_t len, at; int bad; } sob_bits;

static unsigned sob_bit(sob_bits *b) {
    if (b->at >= 8 * b->len) { b->bad = 1; return 0; }
    unsigned bit = b->data[b->at / 8] >> (7 - b->at % 8) & 1;
    b->at++;
    return bit;
}
static uint64_t sob_get(sob_bits *b, unsigned count) {
    uint64_t value = 0;
    while (count-- > 0) value = value << 1 | sob_bit(b);
    return value;
}
static uint64_t sob_unary(sob_bits *b) { uint64_t ones = 0; while (sob_bit(b)) ones++; return ones; }
static int sob_finish(sob_bits *b) {
    if (b->bad || 8 * b->len - b->at >= 8) return SOB_BAD_BLOCK;
    while (b->at < 8 * b->len) if (sob_bit(b)) return SOB_BAD_BLOCK;
    return SOB_OK;
}

static unsigned sob_symbol(const sob_codes *codes, sob_bits *bits) {
    uint64_t code = 0, before = 0;
    for (int length = 1; length <= 32; length++) {
        code = code << 1 | sob_bit(bits);
        if (code < codes->counts[length]) return codes->symbols[before + code];
        code -= codes->counts[length];
        before += codes->counts[length];
    }
    bits->bad = 1;
    return 0;
}

static int sob_rice(const unsigned char *data, size_t len, uint64_t key, uint64_t *keys, unsigned count) {
    sob_bits bits = { data, len, 0, 0 };
    unsigned k = (unsigned)sob_get(&bits, 8), done = 0;
    if (k > 63) return SOB_BAD_BLOCK;
    for (;;) {
        uint64_t group = sob_unary(&bits) + 1;
        if (bits.bad || group > count - done) return SOB_BAD_BLOCK;
        while (group-- > 0) keys[done++] = key;
        if (done == count) return sob_finish(&bits);
        uint64_t quotient = sob_unary(&bits);
        if (quotient > UINT64_MAX >> k) return SOB_BAD_BLOCK;
        uint64_t gap = quotient << k | sob_get(&bits, k);
        if (bits.bad || key == UINT64_MAX || gap > UINT64_MAX - key - 1) return SOB_BAD_BLOCK;
        key += 1 + gap;
    }
}

/* Raw LZMA1 of known size, without an end mark. */
typedef struct { const unsigned char *in; size_t in_len, at; uint32_t range, code; int bad; } sob_lzma;

static void sob_normalize(sob_lzma *d) {
    if (d->range >= (uint32_t)1 << 24) return;
    d->range <<= 8;
    if (d->at >= d->in_len) { d->bad = 1; d->code <<= 8; return; }
    d->code = d->code << 8 | d->in[d->at++];
}
static unsigned sob_prob(sob_lzma *d, uint16_t *p) {
    sob_normalize(d);
    uint32_t bound = (d->range >> 11) * *p;
    if (d->code < bound) { d->range = bound; *p = (uint16_t)(*p + ((2048 - *p) >> 5)); return 0; }
    d->range -= bound; d->code -= bound; *p = (uint16_t)(*p - (*p >> 5));
    return 1;
}
static unsigned sob_tree(sob_lzma *d, uint16_t *p, int bits) {
    unsigned m = 1;
    for (int i = 0; i < bits; i++) m = m << 1 | sob_prob(d, p + m);
    return m - (1u << bits);
}
static unsigned sob_reverse(sob_lzma *d, uint16_t *p, int bits) {
    unsigned m = 1, value = 0;
    for (int i = 0; i < bits; i++) { unsigned bit = sob_prob(d, p + m); m = m << 1 | bit; value |= bit << i; }
    return value;
}
static unsigned sob_direct(sob_lzma *d, int bits) {
    unsigned value = 0;
    while (bits-- > 0) {
        sob_normalize(d);
        d->range >>= 1;
        unsigned bit = d->code >= d->range;
        if (bit) d->code -= d->range;
        value = value << 1 | bit;
    }
    return value;
}
/* 0 choice, 1 second choice, from 2 low (16 x 8), mid (16 x 8), high (256) */
static unsigned sob_length(sob_lzma *d, uint16_t *p, unsigned state) {
    if (!sob_prob(d, p)) return sob_tree(d, p + 2 + 8 * state, 3);
    if (!sob_prob(d, p + 1)) return 8 + sob_tree(d, p + 130 + 8 * state, 3);
    return 16 + sob_tree(d, p + 258, 8);
}

static int sob_unlzma(const unsigned char *in, size_t in_len, unsigned char *out, size_t len, int properties) {
    int lc = properties % 9, lp = properties / 9 % 5, pb = properties / 45;
    size_t literals = (size_t)0x300 << (lc + lp), probs = literals + 192 * 2 + 12 * 4 + 256 + 128 + 16 + 514 * 2;
    if (in_len < 5 || in[0] != 0) return SOB_BAD_BLOCK;
    uint16_t *p = malloc(probs * sizeof *p);
    if (!p) return SOB_NO_MEMORY;
    for (size_t i = 0; i < probs; i++) p[i] = 1024;
    uint16_t *literal = p, *match = p + literals, *rep0_long = match + 192, *rep = rep0_long + 192;
    uint16_t *rep_g0 = rep + 12, *rep_g1 = rep_g0 + 12, *rep_g2 = rep_g1 + 12, *slot = rep_g2 + 12;
    uint16_t *special = slot + 256, *align = special + 128, *match_len = align + 16, *rep_len = match_len + 514;
    sob_lzma d = { in, in_len, 5, 0xFFFFFFFFu, 0, 0 };
    for (int i = 1; i < 5; i++) d.code = d.code << 8 | in[i];
    uint32_t r0 = 0, r1 = 0, r2 = 0, r3 = 0;
    unsigned state = 0;
    size_t pos = 0;
    while (pos < len && !d.bad) {
        unsigned ps = (unsigned)pos & ((1u << pb) - 1);
        if (!sob_prob(&d, match + (state << 4 | ps))) {
            unsigned previous = pos > 0 ? out[pos - 1] : 0, m = 1;
            uint16_t *q = literal + 0x300 * ((((unsigned)pos & ((1u << lp) - 1)) << lc) + (previous >> (8 - lc)));
            if (state >= 7) {
                if (r0 >= pos) break;
                unsigned byte = out[pos - r0 - 1];
                do {
                    unsigned expected = byte >> 7 & 1;
                    byte <<= 1;
                    unsigned bit = sob_prob(&d, q + ((1 + expected) << 8) + m);
                    m = m << 1 | bit;
                    if (bit != expected) break;
                } while (m < 0x100);
            }
            while (m < 0x100) m = m << 1 | sob_prob(&d, q + m);
            out[pos++] = (unsigned char)m;
            state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
            continue;
        }
        unsigned length;
        if (sob_prob(&d, rep + state)) {
            if (!sob_prob(&d, rep_g0 + state)) {
                if (!sob_prob(&d, rep0_long + (state << 4 | ps))) {
                    if (r0 >= pos) break;
                    state = state < 7 ? 9 : 11;
                    out[pos] = out[pos - r0 - 1];
                    pos++;
                    continue;
                }
            } else {
                uint32_t distance;
                if (!sob_prob(&d, rep_g1 + state)) distance = r1;
                else {
                    if (!sob_prob(&d, rep_g2 + state)) distance = r2; else { distance = r3; r3 = r2; }
                    r2 = r1;
                }
                r1 = r0; r0 = distance;
            }
            length = sob_length(&d, rep_len, ps);
            state = state < 7 ? 8 : 11;
        } else {
            r3 = r2; r2 = r1; r1 = r0;
            length = sob_length(&d, match_len, ps);
            state = state < 7 ? 7 : 10;
            unsigned s = sob_tree(&d, slot + (length < 4 ? length : 3) * 64, 6);
            r0 = s;
            if (s >= 4) {
                int bits = (int)(s >> 1) - 1;
                r0 = (2 | (s & 1)) << bits;
                if (s < 14) r0 += sob_reverse(&d, special + (r0 - s), bits);
                else { r0 += sob_direct(&d, bits - 4) << 4; r0 += sob_reverse(&d, align, 4); }
            }
        }
        length += 2;
        if (r0 >= pos || length > len - pos) break;
        for (; length > 0; length--, pos++) out[pos] = out[pos - r0 - 1];
    }
    free(p);
    return pos == len && !d.bad ? SOB_OK : SOB_BAD_BLOCK;
}

/* The payload of a block, checked. */
static int sob_payload(sob_half *h, uint32_t i, unsigned char **data, size_t *len) {
    uint64_t size = h->list[i + 1].offset - h->list[i].offset;
    if (size > 16 * (uint64_t)h->list[i].count + 64) return SOB_BAD_BLOCK;
    *len = (size_t)size;
    *data = malloc(*len);
    if (!*data) return SOB_NO_MEMORY;
    int error = sob_read(h, h->data.offset + h->list[i].offset, *data, *len);
    if (!error && sob_crc(*data, *len) != h->list[i].crc) error = SOB_BAD_BLOCK;
    if (error) free(*data);
    return error;
}

/* The bytes of a block that is stored or packed with LZMA, in the place of its payload. */
static int sob_unpack(sob_half *h, unsigned char **data, size_t *len, size_t wanted) {
    if (h->codec == 1) {
        unsigned char *plain = malloc(wanted);
        int error = plain ? sob_unlzma(*data, *len, plain, wanted, h->properties) : SOB_NO_MEMORY;
        if (error) { free(plain); return error; }
        free(*data);
        *data = plain; *len = wanted;
    }
    return *len == wanted ? SOB_OK : SOB_BAD_BLOCK;
}

static int sob_load_keys(sob_book *book, uint32_t i) {
    sob_half *h = &book->hashes;
    unsigned count = h->list[i].count;
    unsigned char *data;
    size_t len;
    book->has_keys = book->has_words = 0;
    int error = sob_payload(h, i, &data, &len);
    if (error) return error;
    if (h->codec == 3) error = sob_rice(data, len, h->list[i].first, book->keys, count);
    else if (!(error = sob_unpack(h, &data, &len, 8 * (size_t)count)))
        for (unsigned at = 0; at < count; at++) {
            uint64_t key = 0;
            for (int byte = 0; byte < 8; byte++) key = key << 8 | data[8 * at + byte];
            book->keys[at] = key;
        }
    free(data);
    if (error) return error;
    uint64_t greatest = book->keys[count - 1];
    int inside = i + 1 < h->blocks ? greatest < h->list[i + 1].first : greatest == h->last;
    if (!inside || book->keys[0] != h->list[i].first) return SOB_BAD_BLOCK;
    for (unsigned at = 1; at < count; at++) if (book->keys[at - 1] > book->keys[at]) return SOB_BAD_BLOCK;
    book->block = i; book->count = count; book->has_keys = 1;
    return SOB_OK;
}

static int sob_load_words(sob_book *book) {
    sob_half *m = &book->moves;
    unsigned char *data;
    size_t len;
    int error = sob_payload(m, book->block, &data, &len);
    if (error) return error;
    if (m->codec == 3) {
        sob_bits bits = { data, len, 0, 0 };
        for (unsigned at = 0; at < book->count && !bits.bad; at++) {
            unsigned squares = sob_symbol(&book->squares, &bits);
            book->words[at] = (uint16_t)(squares | sob_symbol(&book->ranks, &bits) << 12);
        }
        error = sob_finish(&bits);
    } else if (!(error = sob_unpack(m, &data, &len, 2 * (size_t)book->count)))
        for (unsigned at = 0; at < book->count; at++) book->words[at] = (uint16_t)(data[2 * at] << 8 | data[2 * at + 1]);
    free(data);
    book->has_words = !error;
    return error;
}

int sob_words(sob_book *book, uint64_t key, uint16_t words[SOB_MAX_MOVES]) {
    sob_half *h = &book->hashes;
    if (h->blocks == 0 || key < h->list[0].first || key > h->last) return 0;
    uint32_t low = 0, high = h->blocks;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (h->list[middle].first <= key) low = middle; else high = middle;
    }
    int error;
    if ((!book->has_keys || book->block != low) && (error = sob_load_keys(book, low)) != 0) return -error;
    unsigned from = 0, to = book->count;
    while (from < to) {
        unsigned middle = (from + to) / 2;
        if (book->keys[middle] < key) from = middle + 1; else to = middle;
    }
    if (from == book->count || book->keys[from] != key) return 0;
    if (!book->has_words && (error = sob_load_words(book)) != 0) return -error;
    int count = 0;
    for (; from < book->count && book->keys[from] == key && count < SOB_MAX_MOVES; from++) words[count++] = book->words[from];
    return count;
}

/* Squares from a1 on; where the fields after the board begin, or NULL. */
static const char *sob_board(const char *fen, char board[64]) {
    int row = 7, file = 0;
    memset(board, '.', 64);
    for (; *fen && *fen != ' '; fen++) {
        if (*fen == '/') { row--; file = 0; }
        else if (*fen >= '1' && *fen <= '8') file += *fen - '0';
        else if (row < 0 || file > 7 || !strchr("pPnNbBrRqQkK", *fen)) return NULL;
        else board[8 * row + file++] = *fen;
    }
    return *fen == ' ' && (fen[1] == 'w' || fen[1] == 'b') && fen[2] == ' ' ? fen + 1 : NULL;
}

int sob_key(const char *fen, int always, uint64_t *key) {
    static const char rights[] = "KQkq";
    char board[64];
    const char *rest = sob_board(fen, board);
    if (!rest) return SOB_BAD_FEN;
    int white = *rest == 'w';
    uint64_t value = white ? sob_table[780] : 0;
    for (int square = 0; square < 64; square++)
        if (board[square] != '.') value ^= sob_table[64 * (strchr("pPnNbBrRqQkK", board[square]) - "pPnNbBrRqQkK") + square];
    for (rest += 2; *rest && *rest != ' '; rest++) {
        const char *right = strchr(rights, *rest);
        if (right) value ^= sob_table[768 + (right - rights)];
    }
    if (*rest == ' ' && rest[1] >= 'a' && rest[1] <= 'h') {
        int file = rest[1] - 'a', row = white ? 4 : 3;
        char pawn = white ? 'P' : 'p';
        int ready = (file > 0 && board[8 * row + file - 1] == pawn) || (file < 7 && board[8 * row + file + 1] == pawn);
        if (always || ready) value ^= sob_table[772 + file];
    }
    *key = value;
    return SOB_OK;
}

/* Whether there is a piece of the side to move. */
static int sob_decode(uint16_t word, const char board[64], int white, int underpromotions, sob_move *move) {
    int from = (word & 63) ^ 56, to = (word >> 6 & 63) ^ 56, row = word >> 9 & 7;
    char piece = board[from], promotion = 0;
    if (piece == '.' || (piece < 'a') != white) return 0;
    if (piece == (white ? 'P' : 'p') && from >> 3 == (white ? 6 : 1)) {
        if (row == (white ? 0 : 7)) promotion = 'q';
        else if (underpromotions && row >= 2 && row <= 4) promotion = "nbr"[row - 2];
        else return 0;
        to = (to & 7) | (white ? 56 : 0);
    }
    move->uci[0] = (char)('a' + (from & 7)); move->uci[1] = (char)('1' + (from >> 3));
    move->uci[2] = (char)('a' + (to & 7)); move->uci[3] = (char)('1' + (to >> 3));
    move->uci[4] = promotion; move->uci[5] = 0;
    move->rank = word >> 12;
    return 1;
}

int sob_moves(sob_book *book, const char *fen, sob_move moves[SOB_MAX_MOVES]) {
    if (memcmp(book->hashes.sha256, sob_table_sha256, 32) != 0) return -SOB_NEEDS_TABLE;
    if (book->hashes.ep_rule == 2) return -SOB_UNSUPPORTED;
    uint64_t key;
    uint16_t words[SOB_MAX_MOVES];
    char board[64];
    int error = sob_key(fen, book->hashes.ep_rule == 1, &key);
    if (error) return -error;
    int white = *sob_board(fen, board) == 'w', count = sob_words(book, key, words), found = 0;
    if (count < 0) return count;
    for (int i = 0; i < count; i++) found += sob_decode(words[i], board, white, book->moves.underpromotions, &moves[found]);
    return found;
}
#endif
