/*
 * text.h
 *	  Convert text from the database's encoding to UTF-8 and UTF-16.
 */
#ifndef BLOOMEXT_TEXT_H
#define BLOOMEXT_TEXT_H

#include "mb/pg_wchar.h"

extern bool bf_text_is_convertible(const unsigned char *text, size_t length);
extern const unsigned char *bf_text_to_utf8(const unsigned char *text,
											size_t *length);
extern const unsigned char *bf_text_as_utf16(const unsigned char *text,
											 size_t *length, bool marked);

/* bf_text_to_utf8(), inlined for databases of UTF-8. */
static inline const unsigned char *
bf_text_as_utf8(const unsigned char *text, size_t *length)
{
	return GetDatabaseEncoding() == PG_UTF8 ? text :
		bf_text_to_utf8(text, length);
}

#endif							/* BLOOMEXT_TEXT_H */
