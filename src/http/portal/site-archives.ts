import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import { DEFAULT_MAX_BYTES, OPTIONAL_PARTS } from '#archives/archive-format.ts'
import type { ImportRequest } from '#archives/archive-imports.ts'
import { MAX_PASSPHRASE, MIN_PASSPHRASE } from '#archives/archive-seal.ts'
import { invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import type { AppContext } from '#context'
import { uploadStream } from '#http/bodies/read-body.ts'
import { RequestBody } from '#http/bodies/request-body.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { originOf } from '#http/request-origin.ts'

import { importStream } from './import-stream.ts'

/** The passphrase of an archive that comes as the body: base64url of its UTF-8. */
const PASSPHRASE_HEADER = 'croft-passphrase'

const ExportRequest = ClosedObject({
  with: Type.Optional(
    Type.Array(Type.Union(OPTIONAL_PARTS.map((part) => Type.Literal(part))), { maxItems: 10 }),
  ),
  passphrase: Type.Optional(Type.String({ minLength: MIN_PASSPHRASE, maxLength: MAX_PASSPHRASE })),
})

const ImportQuery = t.Object({
  host: t.Optional(t.String({ maxLength: 300 })),
  /** Addresses with commas between. */
  superAdmins: t.Optional(t.String({ maxLength: 10_000 })),
  maxBytes: t.Optional(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
})

/** How the operator takes a site out of one installation and into another. */
export const portalSiteArchiveRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api' })
    .use(operatorAuth(context))
    .post(
      '/sites/:siteId/export',
      async ({ site, body, request }) => {
        const archive = await context.siteExports.export(site.siteId, {
          parts: body.with ?? [],
          passphrase: body.passphrase,
          origin: originOf(request),
        })
        const headers = { 'content-type': 'application/gzip', 'cache-control': 'no-store' }
        return new Response(archive, { headers })
      },
      {
        siteOperator: true,
        summary: 'Export a site as an archive',
        errors: ['PassphraseRequired'],
        changes: { audit: ['site.exported'], effects: [] },
        params: SitePath,
        body: ExportRequest,
        responds: 'archive',
      },
    )
    .post(
      '/site-imports',
      async ({ query, request }) => {
        const asked = importRequest(request, query)
        const archive = await context.archiveImports.receive(bodyOf(request), asked)
        return importStream(request, {
          logger: context.logger,
          async load(onProgress) {
            // Is closed when the import has ended.
            await using received = archive
            return await context.archiveImports.load(received, asked, onProgress)
          },
        })
      },
      {
        operator: true,
        summary: 'Import a site from an archive',
        errors: [
          'ArchiveTooLarge',
          'InvalidArchive',
          'PassphraseRequired',
          'SiteAlreadyExists',
          'UnsupportedArchive',
          'WrongPassphrase',
        ],
        changes: {
          audit: ['site.imported', 'invite.sent'],
          effects: ['setsSecret', 'movesMail', 'movesAccount', 'changesAuthMail'],
        },
        query: ImportQuery,
        requestBody: new RequestBody('upload', DEFAULT_MAX_BYTES),
        responds: 'json-lines',
      },
    )

const bodyOf = async function* (request: Request): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = uploadStream(request).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

function importRequest(
  request: Request,
  { host, superAdmins, maxBytes = DEFAULT_MAX_BYTES }: typeof ImportQuery.static,
): ImportRequest {
  const given = superAdmins?.split(',') ?? []
  return {
    host,
    superAdmins: given.map((email) => email.trim()).filter((email) => email !== ''),
    maxBytes,
    passphrase: passphraseOf(request),
    origin: originOf(request),
  }
}

function passphraseOf({ headers }: Request): string | undefined {
  const encoded = headers.get(PASSPHRASE_HEADER)
  if (encoded === null) return undefined
  if (encoded.length <= 4 * MAX_PASSPHRASE) return Buffer.from(encoded, 'base64url').toString()
  throw invalid(PASSPHRASE_HEADER, `has at most ${MAX_PASSPHRASE} characters`)
}
