import type { Blob } from './blob.ts'
import { isBlob } from './blob.ts'
import { defineOperation } from './interface.ts'
import { defineProperty, mapDelete, mapGet, mapSet, mapSize } from './primordials.ts'
import { randomUuid } from './random-uuid.ts'
import { URL } from './url.ts'
import { requireArguments } from './webidl.ts'

/** Each keeps its blob until it is revoked, for as long as the context lives. */
const MAX_URLS = 10_000
const PREFIX = 'blob:null/'

const blobs = new Map<string, Blob>()

/** https://w3c.github.io/FileAPI/#dfn-createObjectURL */
function createObjectURL(blob: unknown): string {
  requireArguments(arguments.length, 1, "Failed to execute 'createObjectURL' on 'URL'")
  if (!isBlob(blob)) throw new TypeError("parameter 1 is not of type 'Blob'.")
  if (mapSize(blobs) >= MAX_URLS)
    throw new RangeError(
      `There are ${MAX_URLS} blob URLs: revoke those that are not needed any more with URL.revokeObjectURL`,
    )
  const url = PREFIX + randomUuid()
  mapSet(blobs, url, blob)
  return url
}

function revokeObjectURL(url: unknown): void {
  requireArguments(arguments.length, 1, "Failed to execute 'revokeObjectURL' on 'URL'")
  mapDelete(blobs, `${url as string}`)
}

/** What a blob URL stands for now; undefined when it was revoked or never made. */
export const blobAt = (url: string): Blob | undefined => mapGet(blobs, url) as Blob | undefined

for (const [name, operation] of Object.entries({ createObjectURL, revokeObjectURL }))
  defineProperty(URL, name, {
    value: defineOperation(name, 1, operation),
    writable: true,
    enumerable: true,
    configurable: true,
  })
