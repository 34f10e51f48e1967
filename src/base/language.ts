/** What messages to people are written in, by the subtags of BCP 47. The first one is the default. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'it', 'pl', 'ja'] as const
export type Language = (typeof LANGUAGES)[number]
