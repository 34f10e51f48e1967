import type { CroftProcess } from '#bench/croft/croft-process.ts'

import type { SlowGateway } from './slow-gateway.ts'

export const FLOOD = 'flood.test'
export const QUIET = 'quiet.test'

export interface Case {
  readonly name: string
  /** Resolves when the flood waits in its queue; what it resolves with ends it. */
  readonly flood: (installation: Installation) => Promise<() => Promise<unknown>>
  /** Resolves when the job of the quiet site is done. Each has another number. */
  readonly single: (installation: Installation, at: number) => Promise<void>
}

interface PortalRequest {
  readonly method: string
  /** Below `/portal/api`. */
  readonly path: string
  /** Bytes go out as they are, anything else as JSON. */
  readonly body?: unknown
}

/** A service with two sites, each with its mailboxes, and what the operator asks of it. */
export class Installation {
  readonly croft: CroftProcess
  readonly gateway: SlowGateway
  readonly #archives = new Map<string, Promise<Uint8Array>>()

  constructor(croft: CroftProcess, gateway: SlowGateway) {
    this.croft = croft
    this.gateway = gateway
  }

  /** Calls `/portal/api/sites/…`. */
  async call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const text = await (await this.#request({ method, path: `/sites${path}`, body })).text()
    const answer: Answer = JSON.parse(text)
    return answer
  }

  /** Makes these files what a site serves. */
  async publish(site: string, files: readonly { path: string; sha256: string; text: string }[]) {
    const listed = files.map(({ path, sha256, text }) => ({
      path,
      sha256,
      sizeBytes: Buffer.byteLength(text),
    }))
    const base = `/${site}/deployments`
    const { deploymentId, missing } = await this.call<{ deploymentId: string; missing: string[] }>(
      'POST',
      base,
      { buildYml: 'ARTIFACT_DIR: dist', files: listed },
    )
    for (const { sha256, text } of files) {
      if (!missing.includes(sha256)) continue
      const path = `/sites${base}/${deploymentId}/files/${sha256}`
      await this.#request({ method: 'PUT', path, body: Buffer.from(text) })
    }
    await this.call('POST', `${base}/${deploymentId}/activate`)
  }

  async export(site: string): Promise<Uint8Array> {
    const path = `/sites/${site}/export`
    const response = await this.#request({ method: 'POST', path, body: { with: ['mail'] } })
    return response.bytes()
  }

  /** An archive of the site as it was when it was first asked for. */
  archive(site: string): Promise<Uint8Array> {
    const archive = this.#archives.get(site) ?? this.export(site)
    this.#archives.set(site, archive)
    return archive
  }

  async import(body: Uint8Array, host: string): Promise<void> {
    const path = `/site-imports?host=${host}`
    const text = await (await this.#request({ method: 'POST', path, body })).text()
    if (!text.includes('"imported"')) throw new Error(`"${host}" was not imported: ${text}`)
  }

  async #request({ method, path, body }: PortalRequest): Promise<Response> {
    const { origin, operatorKey } = this.croft
    const url = new URL(`/portal/api${path}`, origin.replace('127.0.0.1', 'localhost'))
    const isBytes = body instanceof Uint8Array
    const headers = {
      authorization: `Bearer ${operatorKey}`,
      'content-type': isBytes ? 'application/octet-stream' : 'application/json',
    }
    const sent = body === undefined ? {} : { body: isBytes ? body : JSON.stringify(body) }
    const response = await fetch(url, { method, headers, ...sent })
    if (response.ok) return response
    const text = await response.text()
    throw new Error(`${method} ${url.pathname} answered ${response.status}: ${text}`)
  }
}

/** Does the same again and again, so many at once; what it returns ends it. */
export function repeated(atOnce: number, work: () => Promise<void>): () => Promise<unknown> {
  let isOver = false
  const one = async (): Promise<void> => {
    while (!isOver) await work()
  }
  const all = Promise.all(Array.from({ length: atOnce }, one))
  return () => {
    isOver = true
    return all
  }
}
