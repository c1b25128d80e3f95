/*
 * quiet.c
 *	  Nothing is translated: preloaded after the sanitizer's runtime.
 *
 * With that runtime before it, glibc 2.36 leaves the lock of its message
 * catalogs in a state that the next bindtextdomain() waits on for ever
 * (libgpg-error calls it first, from a constructor).  A server of the tests has
 * no messages to translate.
 */
extern char *bindtextdomain(const char *domain, const char *directory);
extern char *bind_textdomain_codeset(const char *domain, const char *codeset);
extern char *textdomain(const char *domain);

char *
bindtextdomain(const char *domain, const char *directory)
{
	(void) domain;
	return (char *) directory;
}

char *
bind_textdomain_codeset(const char *domain, const char *codeset)
{
	(void) domain;
	return (char *) codeset;
}

char *
textdomain(const char *domain)
{
	return (char *) domain;
}
