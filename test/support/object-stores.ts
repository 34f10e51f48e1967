import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { type CORSConfiguration, PutBucketCorsCommand, S3Client } from '@aws-sdk/client-s3'
import { Elysia } from 'elysia'

import { notFound } from '#base/app-error.ts'
import { type Clock, systemClock } from '#base/clock.ts'
import { randomIds } from '#base/ids.ts'
import { objectRoutes } from '#http/objects/routes.ts'
import { errorResponse, toAppError } from '#http/plugins/errors.ts'
import { RequestScopes } from '#http/request-scope.ts'
import { startHttpServer } from '#platform/http-server/http-server.ts'
import { bucketCors } from '#platform/objects/bucket-cors.ts'
import { FileObjectStore } from '#platform/objects/file-object-store.ts'
import type { ObjectHead, ObjectStore } from '#platform/objects/object-store.ts'
import { ObjectUrls } from '#platform/objects/object-urls.ts'
import { S3ObjectStore } from '#platform/objects/s3-object-store.ts'

import { type ListedObject, listObjectsXml } from './s3-listing.ts'
import { type S3Credentials, presignFault } from './sigv4.ts'
import { silentLog } from './silent-log.ts'

const require = createRequire(import.meta.url)

/** An empty store, and whatever serves the URLs that it signs. */
export interface OpenStore extends AsyncDisposable {
  readonly store: ObjectStore
  /** The same objects and URLs, at another time. */
  at(clock: Clock): ObjectStore
}

export interface OpenS3Store extends OpenStore {
  /** For a service, as its environment says it. */
  readonly env: Readonly<Record<string, string>>
  /** Which origins a page may have; none at first. */
  allowOrigins(...origins: readonly string[]): Promise<void>
  /** From now on requests are taken and never answered. */
  fallSilent(): void
  answerAgain(): void
}

export interface OpenFileStore extends OpenStore {
  readonly store: FileObjectStore
  readonly dir: string
  readonly port: number
}

/** Keys of no bucket: they are not counted. */
const uploads = { take: (_upload: object, put: () => Promise<ObjectHead>) => put() }

/** Sites `one` and `two` are served at `one.test` and `two.test`. */
export async function openFileStore(): Promise<OpenFileStore> {
  const dir = await mkdtemp(join(tmpdir(), 'croft-objects-'))
  const key = randomBytes(32)
  let port = 0
  const baseUrlOf = (siteId: string) => `http://${siteId}.test:${port}`
  const urlsAt = (clock: Clock) => new ObjectUrls({ key, baseUrlOf, clock })
  const at = (clock: Clock) => new FileObjectStore({ dir, urls: urlsAt(clock), clock })
  const store = await at(systemClock).open()
  const urls = urlsAt(systemClock)
  const routes = objectRoutes({ objects: store, uploads, urls, siteIdOf })
  const app = new Elysia()
    .onError(({ error, code, request }) =>
      errorResponse(toAppError(error, code), new URL(request.url).pathname, 'test'),
    )
    .use(routes)
  const scopes = new RequestScopes([], randomIds)
  const server = await startHttpServer({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request, peer) {
      scopes.open(request, peer)
      return app.handle(request)
    },
  })
  port = server.port
  return {
    store,
    dir,
    port,
    at,
    async [Symbol.asyncDispose]() {
      await server.drain(0)
      await store[Symbol.asyncDispose]()
      await rm(dir, { recursive: true })
    },
  }
}

function refuse(outgoing: ServerResponse, fault: string, isAllowedOrigin: boolean): void {
  if (isAllowedOrigin) outgoing.setHeader('access-control-allow-origin', '*')
  outgoing.writeHead(403).end(fault)
}

/** s3rver checks no signature, so what comes with a presigned URL passes a strict check of our own first; listings are our own too. */
export async function openS3Store(): Promise<OpenS3Store> {
  const directory = await mkdtemp(join(tmpdir(), 'croft-s3-'))
  const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
  const s3rver = createS3rver(directory)
  await s3rver.configureBuckets()
  const answer = s3rver.callback()
  let isSilent = false
  let origins: readonly string[] = []
  const server = createServer((incoming, outgoing) => {
    if (isSilent) return
    const { method = '', url: target = '', headers } = incoming
    // A preflight has another method than the one that is signed, and is answered by the bucket's CORS alone.
    const presigned = method !== 'OPTIONS' && target.includes('X-Amz-Signature=')
    const fault = presigned
      ? presignFault({ method, target, headers }, credentials, new Date())
      : undefined
    if (fault !== undefined) {
      refuse(outgoing, fault, origins.includes(headers.origin ?? ''))
    } else if (method === 'GET' && target.includes('list-type=2')) {
      void sendListing(s3rver, target, outgoing)
    } else answer(incoming, outgoing)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const at = (clock: Clock) =>
    new S3ObjectStore(
      {
        endpoint: `http://127.0.0.1:${port}`,
        region: 'us-east-1',
        bucket: 'croft',
        forcePathStyle: true,
        ...credentials,
      },
      { clock, logger: silentLog },
    )
  const store = at(systemClock)
  return {
    store,
    at,
    env: {
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_BUCKET: 'croft',
      S3_ACCESS_KEY_ID: credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    async allowOrigins(...allowed) {
      origins = allowed
      await putCors(`http://127.0.0.1:${port}`, credentials, bucketCors(allowed))
    },
    fallSilent: () => void (isSilent = true),
    answerAgain: () => void (isSilent = false),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(directory, { recursive: true })
    },
  }
}

/** As an operator sets it. */
async function putCors(
  endpoint: string,
  credentials: S3Credentials,
  CORSConfiguration: CORSConfiguration,
): Promise<void> {
  const client = new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true })
  try {
    await client.send(new PutBucketCorsCommand({ Bucket: 'croft', CORSConfiguration }))
  } finally {
    client.destroy()
  }
}

async function sendListing(s3rver: S3rver, target: string, outgoing: ServerResponse) {
  const { objects } = await s3rver.store.listObjects('croft', {})
  const xml = listObjectsXml(objects, new URL(target, 'http://any').searchParams)
  outgoing.writeHead(200, { 'content-type': 'application/xml' }).end(xml)
}

async function siteIdOf(request: Request): Promise<string> {
  const { hostname } = new URL(request.url)
  if (!/^(?:one|two)\.test$/.test(hostname)) throw notFound('Site', hostname)
  return hostname.slice(0, 3)
}

/** The package has no types. */
interface S3rver {
  configureBuckets(): Promise<unknown>
  readonly store: {
    listObjects(bucket: string, options: object): Promise<{ objects: ListedObject[] }>
  }
  callback(): (incoming: IncomingMessage, outgoing: ServerResponse) => void
}

function createS3rver(directory: string): S3rver {
  const Constructor = require('s3rver') as new (options: object) => S3rver
  return new Constructor({ directory, silent: true, configureBuckets: [{ name: 'croft' }] })
}
