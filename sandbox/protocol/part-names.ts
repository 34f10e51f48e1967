/** The parts of the web platform that a context loads when its code first needs them. */
export const PART_NAMES = ['compression', 'encodings', 'urlpattern', 'webcrypto'] as const

/** The files of `guest/web/` that parts share with the prelude. */
export const SHARED_FILES = [
  'base64.ts',
  'crypto-key.ts',
  'dom-exception.ts',
  'host.ts',
  'interface.ts',
  'primordials.ts',
  'streams.ts',
  'url.ts',
  'utf8.ts',
  'webidl.ts',
] as const

export type PartName = (typeof PART_NAMES)[number]
export type SharedFile = (typeof SHARED_FILES)[number]

/** What is built of the sources in `guest/`: the script of the snapshot, and one for each part. */
export interface GuestScripts {
  readonly prelude: string
  readonly parts: Readonly<Record<PartName, string>>
}
