import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

import {
  type ArchiveManifest,
  OPTIONAL_PARTS,
  type OptionalPart,
  SEALED_PARTS,
} from '#archives/archive-format.ts'
import { MIN_PASSPHRASE } from '#archives/archive-seal.ts'
import { verifyArchive } from '#archives/verified-archive.ts'
import { codeOf, hasCode } from '#base/error-code.ts'
import { syncFolder } from '#config/atomic-file.ts'

import { archiveText, missingText, reportProgress } from './archive-text.ts'
import { type CliCommand, type Invocation, requiredOption, textOption } from './command.ts'
import { CommandError, UsageError } from './errors.ts'
import { PASSPHRASE_OPTION, askedPassphrase, givenPassphrase } from './passphrase.ts'
import { sitePath } from './service-client.ts'
import { readSite } from './site-show.ts'

export const siteExport: CliCommand = {
  name: 'site export',
  summary: 'Export a site with its items and objects as one file, for another installation',
  words: ['DOMAIN'],
  options: [
    requiredOption('--to <file>', 'the archive, like shop.croft.tar.gz; it must not be there yet'),
    textOption('--with <parts>', `also ${OPTIONAL_PARTS.join(', ')}: names with commas between`),
    PASSPHRASE_OPTION,
  ],
  async run(call) {
    const { args, service } = call
    const target = resolve(args.required('to'))
    const parts = partsIn(args.text('with'))
    const { siteId, domain } = await readSite(service, args.word)
    const passphrase = await passphraseFor(call, parts)
    const body = { with: parts, ...(passphrase === undefined ? {} : { passphrase }) }
    await using file = await NewFile.create(target)
    call.progress(`The service reads ${domain}…`)
    const archive = await service.portalStream('POST', sitePath(siteId, '/export'), { body })
    const { manifest } = await verified(saved(archive, file, call))
    await file.keep()
    return {
      json: { file: target, sizeBytes: file.sizeBytes, ...manifest },
      text: exportText(manifest, { domain, target, sizeBytes: file.sizeBytes }),
    }
  },
}

function partsIn(text: string | undefined): readonly OptionalPart[] {
  const names = (text ?? '').split(',').map((name) => name.trim())
  return names
    .filter((name) => name !== '')
    .map((name) => {
      const part = OPTIONAL_PARTS.find((each) => each === name)
      if (part !== undefined) return part
      throw new UsageError(`--with takes ${OPTIONAL_PARTS.join(', ')}, not "${name}"`)
    })
}

async function passphraseFor(
  { args, env }: Invocation,
  parts: readonly OptionalPart[],
): Promise<string | undefined> {
  if (!parts.some((part) => SEALED_PARTS.includes(part))) return undefined
  const passphrase =
    (await givenPassphrase(args, env)) ??
    (await askedPassphrase('A passphrase for the secrets in the archive: '))
  if (passphrase.length >= MIN_PASSPHRASE) return passphrase
  throw new CommandError(`The passphrase must have at least ${MIN_PASSPHRASE} characters`)
}

async function* saved(
  archive: AsyncIterable<Uint8Array>,
  file: NewFile,
  call: Invocation,
): AsyncGenerator<Uint8Array, void, undefined> {
  const tell = reportProgress(call)
  for await (const chunk of archive) {
    await file.append(chunk)
    tell(() => `${file.sizeBytes} bytes`)
    yield chunk
  }
}

/** A broken export is reported now, not at its import. */
async function verified(archive: AsyncIterable<Uint8Array>) {
  try {
    return await verifyArchive(archive, Number.MAX_SAFE_INTEGER)
  } catch (cause) {
    if (cause instanceof CommandError) throw cause
    throw new CommandError(
      'The service broke off, for a reason that its log has: nothing was kept, export it again',
      { cause },
    )
  }
}

function exportText(
  manifest: ArchiveManifest,
  { domain, target, sizeBytes }: { domain: string; target: string; sizeBytes: number },
): string {
  return [
    `Exported ${domain} to ${target} (${sizeBytes} bytes): ${archiveText(manifest)}.`,
    ...missingText(manifest.missingSecrets),
    `Next, at the other installation: croft site import ${target}`,
  ].join('\n')
}

/** A file that is there as a whole or not at all. */
export class NewFile implements AsyncDisposable {
  sizeBytes = 0
  readonly #file: FileHandle
  readonly #path: string
  readonly #target: string

  private constructor(file: FileHandle, path: string, target: string) {
    this.#file = file
    this.#path = path
    this.#target = target
  }

  static async create(target: string): Promise<NewFile> {
    const path = `${target}.part`
    try {
      // Holds the name, so that nothing that is there is lost at the end.
      await (await open(target, 'wx', 0o600)).close()
      return new NewFile(await open(path, 'w', 0o600), path, target)
    } catch (cause) {
      const reason = hasCode(cause, 'EEXIST')
        ? 'it is there already; name another file'
        : String(codeOf(cause))
      throw cannotBeWritten(target, reason, cause)
    }
  }

  async append(bytes: Uint8Array): Promise<void> {
    await this.#file.appendFile(bytes).catch((cause: unknown) => {
      throw cannotBeWritten(this.#target, String(codeOf(cause)), cause)
    })
    this.sizeBytes += bytes.byteLength
  }

  async keep(): Promise<void> {
    await this.#file.sync()
    await rename(this.#path, this.#target)
    await syncFolder(dirname(this.#target))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close()
    const isPartial = await rm(this.#path).then(
      () => true,
      () => false,
    )
    if (isPartial) await rm(this.#target, { force: true })
  }
}

const cannotBeWritten = (target: string, reason: string, cause: unknown): CommandError =>
  new CommandError(`The archive "${target}" cannot be written: ${reason}`, { cause })
