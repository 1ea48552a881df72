#include "RawLoops.h"

#include <stdlib.h>
#include <string.h>

RawReading *raw_readings_append(RawReadings *readings) {
    if (readings->count == readings->capacity) {
        size_t capacity = readings->capacity ? 2 * readings->capacity : 16;
        RawReading *items = realloc(readings->items, capacity * sizeof(RawReading));
        if (!items) return NULL;
        readings->items = items;
        readings->capacity = capacity;
    }
    return &readings->items[readings->count++];
}

void raw_readings_free(RawReadings *readings) {
    for (size_t index = 0; index < readings->count; index++) {
        free(readings->items[index].unit);
        free(readings->items[index].place);
        free(readings->items[index].note);
    }
    free(readings->items);
    *readings = (RawReadings){0};
}

// SplitMix64.
static uint64_t next(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

// A text of 8 to 16 letters, 12 in the mean.
static char *text(uint64_t *state) {
    size_t count = 8 + next(state) % 9;
    char *text = malloc(count + 1);
    if (!text) abort();
    for (size_t index = 0; index < count; index++) text[index] = 'a' + next(state) % 26;
    text[count] = 0;
    return text;
}

// A UUID of version 7: milliseconds, then random bits. Eight rows share a millisecond.
static void identifier(uint8_t id[16], size_t index, uint64_t *state) {
    uint64_t high = (1700000000000 + index / 8) << 16 | 0x7000 | (index % 8) << 9 | (next(state) & 0x1FF);
    uint64_t low = 0x8000000000000000 | next(state) >> 2;
    for (int byte = 0; byte < 8; byte++) {
        id[byte] = high >> (56 - 8 * byte);
        id[8 + byte] = low >> (56 - 8 * byte);
    }
}

RawReadings raw_readings_make(size_t count, uint64_t seed) {
    RawReadings readings = {0};
    uint64_t state = seed;
    for (size_t index = 0; index < count; index++) {
        RawReading *reading = raw_readings_append(&readings);
        if (!reading) abort();
        identifier(reading->id, index, &state);
        reading->station = next(&state) % 500;
        reading->sensor = next(&state) % 100000;
        reading->sequence = index;
        reading->flags = next(&state) >> 24;
        reading->value = (double)(next(&state) >> 11) / 0x1p40 - 4096;
        reading->deviation = (double)(next(&state) >> 11) / 0x1p53;
        reading->unit = text(&state);
        reading->place = text(&state);
        reading->note = text(&state);
    }
    return readings;
}
