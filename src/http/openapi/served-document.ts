import { createHash } from 'node:crypto'

import { evaluatePreconditions } from '#http/objects/preconditions.ts'

import type { OpenApiDocument } from './document.ts'

interface Representation {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
}

/** A document that is made at its first request, and kept in memory. */
export class ServedDocument {
  readonly #make: () => OpenApiDocument | Promise<OpenApiDocument>
  readonly #cacheControl: string
  #made: Promise<Representation> | undefined

  constructor(make: () => OpenApiDocument | Promise<OpenApiDocument>, cacheControl = 'no-store') {
    this.#make = make
    this.#cacheControl = cacheControl
  }

  /** The document, or 304 for a client that has it. */
  async responseTo({ headers }: Pick<Request, 'headers'>): Promise<Response> {
    this.#made ??= this.#represented()
    const { bytes, etag } = await this.#made
    const validators = { etag, 'cache-control': this.#cacheControl }
    if (evaluatePreconditions(headers, { etag }) === 'unmodified')
      return new Response(null, { status: 304, headers: validators })
    return new Response(bytes, { headers: { 'content-type': 'application/json', ...validators } })
  }

  async #represented(): Promise<Representation> {
    try {
      return represented(await this.#make())
    } catch (error) {
      this.#made = undefined
      throw error
    }
  }
}

function represented(document: OpenApiDocument): Representation {
  const bytes = new TextEncoder().encode(JSON.stringify(document))
  const hash = createHash('sha256').update(bytes).digest('base64url')
  return { bytes, etag: `"${hash.slice(0, 22)}"` }
}
