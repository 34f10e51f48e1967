/** PostgreSQL keeps neither NUL nor half a surrogate pair, in text or in JSON. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** The nearest text that can be stored: what a site's code printed must not be able to fail the insert. */
export const toStorable = (text: string): string =>
  isStorable(text) ? text : text.replaceAll('\0', '\uFFFD').toWellFormed()
