import { randomBytes, randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import { join } from 'node:path'

import { vi } from 'vitest'

import type { Role } from '#base/actor.ts'
import { systemClock } from '#base/clock.ts'
import { randomIds } from '#base/ids.ts'
import type { Config } from '#config/config.ts'
import { loadConfig } from '#config/load.ts'
import { type AppContext, type Platform, openContext } from '#context'
import { httpApp } from '#http/app.ts'
import { tracing } from '#http/traced-requests.ts'
import { ENOUGH_ROOM } from '#platform/disk/disk-room.ts'
import { HttpEgress } from '#platform/egress/http-egress.ts'
import { type HttpServerOptions, startHttpServer } from '#platform/http-server/http-server.ts'
import type { Logger } from '#platform/log/logger.ts'
import { loneMailParser, sharedMailParser } from '#platform/mail-parser/process-mail-parser.ts'
import { FileObjectStore } from '#platform/objects/file-object-store.ts'
import { selectDatabaseTime } from '#platform/postgres/database-time.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { type PostgresPlatform, connectPostgres } from '#platform/postgres/postgres.ts'
import { openCounters } from '#platform/redis/redis-counters.ts'
import { openSharedCache } from '#platform/redis/redis-shared-cache.ts'
import { SandboxHosts } from '#platform/sandbox-host/sandbox-hosts.ts'
import { Sealer } from '#platform/seal/sealer.ts'
import { Outbox } from '#platform/smtp/outbox.ts'
import { RequestTraces } from '#platform/tracing/request-traces.ts'
import type { CreateSiteBody, CreatedSite } from '#sites/model.ts'
import type { Site } from '#sites/site.ts'

import { builtMailParser, builtSandbox } from './built-sandbox.ts'
import { type Answer, request } from './http-client.ts'
import type { KeyPairs } from './key-pairs.ts'
import { LazySandbox } from './lazy-sandbox.ts'
import { noDns } from './no-dns.ts'
import { ObservedApp } from './observed-app.ts'
import { type TestDatabase, cloneDatabase } from './postgres.ts'
import { PATIENT } from './redis.ts'
import { silentLog } from './silent-log.ts'
import { startWork } from './start-work.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { testConsole } from './test-console.ts'

const OPERATOR_KEY = 'test-operator-key-0123456789abcdef'

export interface StackOptions {
  /** Another replica: the same database, keys and objects. Disposing it leaves them. */
  readonly beside?: Pick<Stack, 'database' | 'dataDir' | 'masterKey' | 'port'>
  readonly config?: Partial<Config>
  readonly platform?: Partial<Platform>
  readonly redisUrl?: string
  readonly logger?: Logger
  /** False leaves the queues and schedules to the stacks beside it. */
  readonly works?: boolean
  /** Another way to the database. */
  readonly databaseUrl?: string
  /** `started` has its hosts run from the start, as a replica's do; otherwise they start with the first site code. */
  readonly sandbox?: 'started'
  /** Sites made at the start; `one.test` and `two.test` when left out. */
  readonly sites?: readonly string[]
}

export interface CallOptions {
  readonly token?: string | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

/** The whole service on a real port, with its own database, two sandbox hosts and a folder for objects. */
export interface Stack extends AsyncDisposable {
  readonly context: AppContext
  readonly app: ObservedApp
  readonly port: number
  readonly operatorKey: string
  readonly database: TestDatabase
  readonly dataDir: string
  readonly masterKey: Buffer
  /** One request over the wire to the site of that host. */
  call(host: string, method: string, path: string, options?: CallOptions): Promise<Answer>
  /** The same with the operator key. */
  portal(method: string, path: string, body?: unknown): Promise<Answer>
  createSite(body: CreateSiteBody): Promise<CreatedSite>
  baseUrl(host: string): string
  /** Of the site's super-admin `ann@{host}`, or of a user with that role who is made on the way. */
  adminToken(host: string, role?: Role): Promise<string>
  dataToken(host: string, options?: { user?: string; groups?: readonly string[] }): Promise<string>
  /** A transaction of that site's, for what has no route. */
  inSite<T>(host: string, work: (tx: SiteTx, site: Site) => Promise<T>): Promise<T>
  /** Resolves when the site's revision has caught up with every change made so far. */
  synced(host: string): Promise<void>
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  await using started = new AsyncDisposableStack()
  const { beside } = options
  const { database, dataDir, masterKey } = beside ?? (await ownPlaces(started))
  const postgres = started.use(
    await connectPostgres({
      url: options.databaseUrl ?? database.url,
      log: silentLog,
      poolSize: 8,
    }),
  )
  // The base URL has the port, so the server listens before the service exists.
  const late = Promise.withResolvers<HttpServerOptions['fetch']>()
  const server = await startHttpServer({
    fetch: async (incoming, peer) => (await late.promise)(incoming, peer),
    hostname: '127.0.0.1',
    port: 0,
  })
  const places = {
    dataDir,
    masterKey,
    keyPairs: database.keyPairs,
    postgres,
    ports: [server.port, beside?.port] as const,
  }
  const context = started.use(await openContext(await testPlatform(options, places, started)))
  const app = new ObservedApp(httpApp(context), context)
  started.defer(() => app.check())
  late.resolve(tracing(context, (incoming, peer) => app.fetch(incoming, peer)))
  if (options.works !== false) startWork(context, started)
  const agent = new Agent({ keepAlive: true })
  started.defer(async () => {
    agent.destroy()
    context.runtimeLogs.endStreams()
    context.mailboxStreams.endStreams()
    await server.drain(5_000)
  })
  const stack = new RunningStack(
    { context, app, port: server.port, database, dataDir, masterKey },
    { agent, postgres },
  )
  for (const domain of beside ? [] : (options.sites ?? ['one.test', 'two.test'])) {
    await stack.createSite({ domain, superAdmins: [`ann@${domain}`] })
  }
  return stack.owning(started.move())
}

async function ownPlaces(
  started: AsyncDisposableStack,
): Promise<Pick<Stack, 'database' | 'dataDir' | 'masterKey'>> {
  const database = started.use(await cloneDatabase())
  return {
    database,
    dataDir: await temporaryFolder(started, 'croft-stack-'),
    masterKey: randomBytes(32),
  }
}

interface Places {
  readonly dataDir: string
  readonly masterKey: Buffer
  readonly keyPairs: KeyPairs
  readonly postgres: PostgresPlatform
  /** Our own, and that of the stack beside us. */
  readonly ports: readonly [number, number | undefined]
}

async function testPlatform(
  options: StackOptions,
  { dataDir, masterKey, keyPairs, postgres, ports: [port, firstPort] }: Places,
  started: AsyncDisposableStack,
): Promise<Platform> {
  const logger = options.logger ?? silentLog
  const sealer = new Sealer(masterKey)
  const config: Config = {
    ...loadConfig({ CROFT_DATA_DIR: dataDir }).config,
    baseUrl: `http://localhost:${firstPort ?? port}`,
    port,
    logLevel: 'silent',
    roles: ['api', 'worker'],
    ...options.config,
  }
  return {
    config,
    operatorKey: OPERATOR_KEY,
    logger,
    clock: systemClock,
    databaseTime: timeOf(options.platform?.clock),
    ids: randomIds,
    newKeyPair: () => keyPairs.next(),
    postgres,
    sealer,
    sharedCache: started.use(await openSharedCache(options.redisUrl, logger, PATIENT)),
    counters: started.use(await openCounters(options.redisUrl, logger, PATIENT)),
    disk: ENOUGH_ROOM,
    egress: new HttpEgress(),
    requestTraces: new RequestTraces(),
    tracer: undefined,
    dns: noDns,
    mailParser: started.use(sharedMailParser({ command: builtMailParser, logger })),
    loneMailParser: started.use(loneMailParser({ command: builtMailParser, logger })),
    mailTransport: new Outbox(join(dataDir, 'outbox')),
    openObjects: (urls) =>
      new FileObjectStore({
        dir: join(dataDir, 'objects'),
        urls,
        clock: options.platform?.clock ?? systemClock,
      }).open(),
    openConsole: testConsole,
    openSandbox: async (environment) => {
      const start = async () =>
        SandboxHosts.start({
          config: config.sandbox,
          environment,
          logger,
          ...(await builtSandbox()),
        })
      const whole = options.sandbox === 'started' || options.beside !== undefined
      return whole ? start() : new LazySandbox(start)
    },
    ...options.platform,
  }
}

/** A test that has a clock of its own lives by it altogether. */
const timeOf = (clock: Platform['clock'] | undefined): Platform['databaseTime'] =>
  clock === undefined ? selectDatabaseTime : async () => clock.now()

type Parts = Pick<Stack, 'context' | 'app' | 'port' | 'database' | 'dataDir' | 'masterKey'>

class RunningStack implements Stack {
  readonly context: AppContext
  readonly app: ObservedApp
  readonly port: number
  readonly operatorKey = OPERATOR_KEY
  readonly database: TestDatabase
  readonly dataDir: string
  readonly masterKey: Buffer
  readonly #agent: Agent
  readonly #postgres: PostgresPlatform
  readonly #resources = new AsyncDisposableStack()

  constructor(parts: Parts, means: { agent: Agent; postgres: PostgresPlatform }) {
    this.context = parts.context
    this.app = parts.app
    this.port = parts.port
    this.database = parts.database
    this.dataDir = parts.dataDir
    this.masterKey = parts.masterKey
    this.#agent = means.agent
    this.#postgres = means.postgres
  }

  owning(resources: AsyncDisposableStack): this {
    this.#resources.use(resources)
    return this
  }

  call(host: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { token, body, headers } = options
    return request({
      port: this.port,
      host,
      method,
      path,
      agent: this.#agent,
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(body === undefined ? {} : { body }),
    })
  }

  portal(method: string, path: string, body?: unknown): Promise<Answer> {
    const options = { token: this.operatorKey, ...(body === undefined ? {} : { body }) }
    return this.call('localhost', method, `/portal/api${path}`, options)
  }

  createSite(body: CreateSiteBody): Promise<CreatedSite> {
    return this.context.sites.create(body)
  }

  baseUrl(host: string): string {
    return `http://${host}:${this.port}`
  }

  async adminToken(host: string, role: Role = 'super-admin'): Promise<string> {
    const site = await this.context.sites.find(host)
    const user = role === 'super-admin' ? `ann@${host}` : `${role}@${host}`
    if (role !== 'super-admin') await this.#ensureUser(site, user, role)
    return this.#mint(host, { user, pool: 'admin', groups: [] })
  }

  dataToken(
    host: string,
    options: { user?: string; groups?: readonly string[] } = {},
  ): Promise<string> {
    const user = options.user ?? 'visitor@example.test'
    return this.#mint(host, { user, pool: 'data', groups: options.groups ?? [] })
  }

  async inSite<T>(host: string, work: (tx: SiteTx, site: Site) => Promise<T>): Promise<T> {
    const site = await this.context.sites.find(host)
    return this.#postgres.database.withSite(site.siteId, (tx) => work(tx, site))
  }

  async synced(host: string): Promise<void> {
    const { siteId } = await this.context.sites.find(host)
    await vi.waitUntil(
      async () => {
        // What waits to be carried out asks for its revision when it is.
        if (!(await this.context.iacJobs.isIdle(siteId))) return false
        const { status } = await this.context.permissionSync.statusOf(siteId)
        return status === 'succeeded' || status === 'failed'
      },
      { timeout: 60_000, interval: 10 },
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync()
  }

  /** Inviting users is a feature of its own; here a row is enough. */
  async #ensureUser(site: Site, email: string, role: Role): Promise<void> {
    const { auth } = await this.context.pools.bootstrap(site)
    await this.#postgres.database.withSite(site.siteId, (tx) =>
      tx.db
        .insertInto('pool_user')
        .values({
          site_id: site.siteId,
          user_pool_id: auth.userPoolId,
          sub: randomUUID(),
          email,
          external_email: null,
          role,
          status: 'ACTIVE',
          origin: 'operator',
        })
        .onConflict((on) => on.doNothing())
        .execute(),
    )
  }

  async #mint(
    host: string,
    request: { user: string; pool: 'admin' | 'data'; groups: readonly string[] },
  ): Promise<string> {
    const site = await this.context.sites.find(host)
    return (await this.context.tokenMint.mint(site, { ...request, use: 'access' })).token
  }
}
