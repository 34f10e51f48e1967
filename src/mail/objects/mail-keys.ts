import { objectKey } from '#platform/objects/object-store.ts'

/** What the keys of all mail of a site begin with. */
export const mailPrefix = (siteId: string): string => objectKey(siteId, 'mail', '')

/** Where the bytes of a received message are: beside those of all others, so that messages share the flush of a folder. */
export const rawKey = (siteId: string, rawId: string): string => objectKey(siteId, 'mail', rawId)

/** What the keys of all that was taken out of a message begin with. */
export const partsPrefix = (siteId: string, rawId: string): string =>
  objectKey(siteId, 'mail', rawId, 'parts', '')

export const partKey = (siteId: string, rawId: string, attachmentId: string): string =>
  partsPrefix(siteId, rawId) + attachmentId

/** The message that a key below `mailPrefix` belongs to. */
export const rawIdOfKey = (siteId: string, key: string): string =>
  key.slice(mailPrefix(siteId).length).split('/', 1)[0] ?? ''

/** The attachment whose bytes are there; undefined for the key of a message itself. */
export const partIdOfKey = (siteId: string, key: string): string | undefined =>
  key.slice(mailPrefix(siteId).length).split('/parts/', 2)[1]
