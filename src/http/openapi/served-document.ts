import { createHash } from 'node:crypto'

import { evaluatePreconditions } from '#http/objects/preconditions.ts'

import type { OpenApiDocument } from './document.ts'

interface Representation {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
}

/** A document that is made at its first request, and kept in memory. */
export class ServedDocument {
  readonly #make: () => OpenApiDocument
  #made: Representation | undefined

  constructor(make: () => OpenApiDocument) {
    this.#make = make
  }

  /** The document, or 304 for a client that has it. Each use is asked about first: the next build may have another. */
  responseTo({ headers }: Pick<Request, 'headers'>): Response {
    this.#made ??= represented(this.#make())
    const { bytes, etag } = this.#made
    const validators = { etag, 'cache-control': 'private, no-cache' }
    if (evaluatePreconditions(headers, { etag }) === 'unmodified')
      return new Response(null, { status: 304, headers: validators })
    return new Response(bytes, { headers: { 'content-type': 'application/json', ...validators } })
  }
}

function represented(document: OpenApiDocument): Representation {
  const bytes = new TextEncoder().encode(JSON.stringify(document))
  const hash = createHash('sha256').update(bytes).digest('base64url')
  return { bytes, etag: `"${hash.slice(0, 22)}"` }
}
