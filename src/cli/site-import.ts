import { type FileHandle, open } from 'node:fs/promises'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { MissingSecret } from '#archives/archive-format.ts'
import { codeOf } from '#base/error-code.ts'

import { archiveText, missingText, reportProgress } from './archive-text.ts'
import { type CliCommand, type Invocation, listOption, textOption } from './command.ts'
import { CommandError, ServiceRefusal } from './errors.ts'
import { PASSPHRASE_OPTION, askedPassphrase, givenPassphrase } from './passphrase.ts'
import { syncFault, waitForSync } from './site-runtime.ts'

const READ_BYTES = 256 * 1024

const Progress = Type.Object({
  progress: Type.Object({ objects: Type.Integer(), rows: Type.Integer() }),
})
const Failure = Type.Object({
  error: Type.Object({ code: Type.String(), message: Type.String() }),
})
const Imported = Type.Object({
  imported: Type.Object({
    siteId: Type.String(),
    siteDomain: Type.String(),
    exportedAt: Type.String(),
    rows: Type.Record(Type.String(), Type.Integer()),
    objects: Type.Integer(),
    missingSecrets: Type.Array(MissingSecret),
    onboarding: Type.Array(Type.Object({ email: Type.String(), url: Type.String() })),
  }),
})
type Imported = (typeof Imported)['static']['imported']

export const siteImport: CliCommand = {
  name: 'site import',
  summary: 'Create a site from an archive of site export: all of it, or nothing',
  words: ['FILE'],
  options: [
    textOption('--host <domain>', 'the domain that the site gets, instead of the one it had'),
    listOption('--super-admin <email>', 'gets an onboarding link'),
    textOption('--max-bytes <bytes>', 'what the archive may unpack to; 64 GiB by default'),
    PASSPHRASE_OPTION,
  ],
  async run(call) {
    await using file = await openArchive(call.args.word)
    const given = await givenPassphrase(call.args, call.env)
    const imported = await upload(call, file, given).catch(async (error: unknown) => {
      if (given !== undefined || !isPassphraseRequired(error)) throw error
      return upload(call, file, await askedPassphrase('The passphrase of the archive: '))
    })
    call.progress('Waiting for the runtime to take it over…')
    const permissionsSync = await waitForSync(call, imported.siteId)
    const fault = syncFault(permissionsSync)
    return {
      json: { ...imported, permissionsSync },
      text: importText(imported, fault),
      failed: fault !== undefined,
    }
  },
}

async function openArchive(path: string): Promise<FileHandle> {
  return open(path, 'r').catch((cause: unknown) => {
    throw new CommandError(`The archive "${path}" cannot be read (${String(codeOf(cause))})`, {
      cause,
    })
  })
}

async function upload(
  call: Invocation,
  file: FileHandle,
  passphrase: string | undefined,
): Promise<Imported> {
  const { size: sizeBytes } = await file.stat()
  const headers = {
    'content-type': 'application/gzip',
    ...(passphrase === undefined
      ? {}
      : { 'croft-passphrase': Buffer.from(passphrase).toString('base64url') }),
  }
  const bytes = bytesOf(call, file, sizeBytes)
  const path = `/site-imports?${queryOf(call)}`
  const answer = await call.service.portalStream('POST', path, {
    headers,
    upload: { sizeBytes, bytes },
  })
  return resultIn(call, linesOf(answer))
}

function queryOf({ args }: Invocation): string {
  const query = new URLSearchParams()
  const host = args.text('host')
  const superAdmins = args.list('superAdmin')
  const maxBytes = args.text('maxBytes')
  if (host !== undefined) query.set('host', host)
  if (superAdmins !== undefined) query.set('superAdmins', superAdmins.join(','))
  if (maxBytes !== undefined) query.set('maxBytes', maxBytes)
  return query.toString()
}

async function* bytesOf(call: Invocation, file: FileHandle, sizeBytes: number) {
  const tell = reportProgress(call)
  for (let at = 0; at < sizeBytes;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, at)
    if (bytesRead === 0) throw new CommandError('The archive has become shorter')
    at += bytesRead
    const sent = at
    tell(() => `${sent} of ${sizeBytes} bytes sent`)
    yield buffer.subarray(0, bytesRead)
  }
}

/** The service reports its progress line by line, and at last the result. */
async function resultIn(call: Invocation, lines: AsyncIterable<string>): Promise<Imported> {
  const tell = reportProgress(call)
  for await (const line of lines) {
    const said: unknown = JSON.parse(line)
    if (Value.Check(Imported, said)) return said.imported
    if (Value.Check(Failure, said)) {
      const { code, message } = said.error
      throw new ServiceRefusal(`${code}: ${message}`, said.error)
    }
    if (!Value.Check(Progress, said)) break
    const { objects, rows } = said.progress
    tell(() => `${objects} objects and ${rows} rows written`)
  }
  throw brokeOff()
}

async function* linesOf(
  answer: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const chunk of answer) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (error) {
    throw brokeOff(error)
  }
}

const brokeOff = (cause?: unknown): CommandError =>
  new CommandError(
    'The service broke off: all of the site is there now, or nothing of it; croft site list tells',
    { cause },
  )

const isPassphraseRequired = (error: unknown): boolean =>
  error instanceof ServiceRefusal &&
  Value.Check(Type.Object({ code: Type.Literal('PassphraseRequired') }), error.error)

function importText(imported: Imported, fault: string | undefined): string {
  const { siteDomain, siteId, missingSecrets, onboarding } = imported
  const links = onboarding.map(({ email, url }) => `  ${email}  ${url}`)
  return [
    `Imported ${siteDomain} (${siteId}): ${archiveText(imported)}.`,
    ...missingText(missingSecrets),
    ...(links.length === 0 ? [] : ['Onboarding links, shown this once:', ...links]),
    ...(fault === undefined ? [] : [`But ${fault}`]),
  ].join('\n')
}
