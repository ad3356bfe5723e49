/* Answers the questions on standard input with the C reader. */
#define SOB_IMPLEMENTATION
#include "opening_book.h"

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

static void moves(sob_book *book, const char *fen) {
    sob_move found[SOB_MAX_MOVES];
    char texts[SOB_MAX_MOVES][16];
    int count = sob_moves(book, fen, found);
    if (count < 0) { printf("error %s\n", sob_error_name(-count)); return; }
    for (int i = 0; i < count; i++) sprintf(texts[i], "%s:%d", found[i].uci, found[i].rank);
    qsort(texts, (size_t)count, sizeof texts[0], by_text);
    for (int i = 0; i < count; i++) printf("%s%s", i ? " " : "", texts[i]);
    puts(count ? "" : "-");
}

static void words(sob_book *book, uint64_t key) {
    uint16_t found[SOB_MAX_MOVES];
    int count = sob_words(book, key, found);
    if (count < 0) { printf("error %s\n", sob_error_name(-count)); return; }
    for (int i = 0; i < count; i++) printf("%s%04x", i ? " " : "", (unsigned)found[i]);
    puts(count ? "" : "-");
}

int main(void) {
    static char line[4096], hashes[4200], other[4200];
    sob_book *book = NULL;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "open ", 5)) {
            sob_close(book);
            sprintf(hashes, "%s/hashes.sob", line + 5);
            sprintf(other, "%s/moves.sob", line + 5);
            int error = sob_open(hashes, other, &book);
            if (error) printf("error %s\n", sob_error_name(error));
            else printf("ok %llu\n", (unsigned long long)sob_entries(book));
        } else if (!book) puts("closed");
        else if (!strncmp(line, "key ", 4)) words(book, strtoull(line + 4, NULL, 16));
        else if (!strncmp(line, "fen ", 4)) moves(book, line + 4);
        else {
            uint64_t key;
            int error = sob_key(line + 5, 0, &key);
            if (error) printf("error %s\n", sob_error_name(error));
            else printf("%016llx\n", (unsigned long long)key);
        }
    }
    sob_close(book);
    return 0;
}
