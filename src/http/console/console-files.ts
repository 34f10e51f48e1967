import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

import { SingleFlight } from '#base/single-flight.ts'
import type { BuiltConsole } from '#console/build.ts'
import { type Encoded, negotiateEncoding } from '#http/accept-encoding.ts'
import type { OpenConsole } from '#platform/console/built-console.ts'

const HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'accept-encoding',
}

/** Which files the page loads, by their paths. */
export type ConsoleEntry = Pick<BuiltConsole, 'entry' | 'styles' | 'preloads'>

interface Form extends Encoded {
  readonly bytes: Uint8Array<ArrayBuffer>
}

interface ServedFile {
  readonly contentType: string
  /** As `negotiateEncoding` takes them: the file as it is comes last. */
  readonly forms: readonly Form[]
}

/** The console's scripts and styles, compressed and in memory. Their names change with their content. */
export class ConsoleFiles {
  readonly entry: ConsoleEntry
  readonly #files: ReadonlyMap<string, ServedFile>

  private constructor(entry: ConsoleEntry, files: ReadonlyMap<string, ServedFile>) {
    this.entry = entry
    this.#files = files
  }

  static async of({ files, ...entry }: BuiltConsole): Promise<ConsoleFiles> {
    const served = files.map(async ({ path, contentType, bytes }) => {
      const forms = await formsOf(new Uint8Array(bytes))
      return [path, { contentType, forms }] as const
    })
    return new ConsoleFiles(entry, new Map(await Promise.all(served)))
  }

  /** Undefined for a path that is no file of the console's. */
  response(path: string, { method, headers }: Request): Response | undefined {
    const file = this.#files.get(path)
    const form = file && negotiateEncoding(headers.get('accept-encoding'), file.forms)
    if (!file || !form) return undefined
    const { encoding, bytes } = form
    return new Response(method === 'HEAD' ? null : bytes, {
      headers: {
        ...HEADERS,
        'content-type': file.contentType,
        'content-length': String(bytes.length),
        ...(encoding !== undefined && { 'content-encoding': encoding }),
      },
    })
  }
}

/** The files, once a request has needed them. */
export class LazyConsoleFiles {
  readonly #open: OpenConsole
  readonly #opening = new SingleFlight<'console', ConsoleFiles>()
  #files: ConsoleFiles | undefined

  constructor(open: OpenConsole) {
    this.#open = open
  }

  /** Tries again where it failed before. */
  async get(): Promise<ConsoleFiles> {
    this.#files ??= await this.#opening.run('console', async () =>
      ConsoleFiles.of(await this.#open()),
    )
    return this.#files
  }
}

/** Compressed in the threads of zlib, so that other requests do not wait. */
async function formsOf(bytes: Uint8Array<ArrayBuffer>): Promise<readonly Form[]> {
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, { params }),
    promisify(gzip)(bytes, { level: 9 }),
  ])
  const forms: readonly Form[] = [
    { encoding: 'br', bytes: new Uint8Array(br) },
    { encoding: 'gzip', bytes: new Uint8Array(gz) },
  ]
  const shorter = forms.filter((form) => form.bytes.length < bytes.length)
  return [
    ...shorter.toSorted((one, other) => one.bytes.length - other.bytes.length),
    { encoding: undefined, bytes },
  ]
}
