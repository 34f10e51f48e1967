import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import { parseTime } from '#base/parse-time.ts'
import type { AppContext } from '#context'
import { NameText } from '#http/path-params.ts'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { totalOf, usageRange } from '#runtime/usage/model.ts'

const UsageQuery = t.Object({
  from: t.Optional(t.String({ maxLength: 40 })),
  to: t.Optional(t.String({ maxLength: 40 })),
  operation: t.Optional(NameText),
})

const COUNTS = {
  calls: Type.Integer(),
  errors: Type.Integer(),
  cacheHits: Type.Integer(),
  cpuMs: Type.Number(),
  wallMs: Type.Number(),
}

const UsageView = Type.Object({
  from: Type.Date(),
  to: Type.Date(),
  items: Type.Array(Type.Object({ hour: Type.String(), operation: Type.String(), ...COUNTS })),
  totals: Type.Object(COUNTS),
  limits: Type.Record(Type.String(), Type.Number()),
  buckets: Type.Object({
    usedBytes: Type.Integer(),
    usedObjects: Type.Integer(),
    /** Used, or promised to open uploads: what the limits `bucketBytes` and `bucketObjects` bound. */
    chargedBytes: Type.Integer(),
    chargedObjects: Type.Integer(),
  }),
  /** What the limits `tableBytes` and `tableItems` bound. */
  tables: Type.Object({ usedBytes: Type.Integer(), usedItems: Type.Integer() }),
  /** What the limits `mailBytes` and `mailMessages` bound. */
  mail: Type.Object({ usedBytes: Type.Integer(), usedMessages: Type.Integer() }),
  runtime: Type.Object({
    loadedRevision: Type.Union([Type.Integer(), Type.Null()]),
    sandboxReady: Type.Boolean(),
    /** Of this replica, at this moment. */
    calls: Type.Object({
      running: Type.Integer(),
      suspended: Type.Integer(),
      queued: Type.Integer(),
      openStreams: Type.Integer(),
    }),
  }),
  nextToken: Type.Null(),
})

/** Calls per operation and hour, what buckets, tables and mailboxes hold, and the limits. */
export const usageRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/admin/data/usage' }).use(adminAuth(context)).get(
    '/',
    async ({ site, query }) => {
      const now = context.clock.now()
      const range = usageRange(parseTime('from', query.from), parseTime('to', query.to), now)
      const items = await context.runtimeUsage.list(site.siteId, range, query.operation)
      const { limits, ...runtime } = await context.runtimeStatus(site.siteId)
      const { limits: mailLimits, ...mail } = await context.mailQuotas.usage(site.siteId)
      return {
        ...range,
        items,
        totals: totalOf(items),
        limits: { ...limits, ...mailLimits },
        mail,
        tables: await context.tableQuotas.usage(site.siteId),
        buckets: await context.bucketQuotas.usage(site.siteId),
        runtime,
        nextToken: null,
      }
    },
    {
      role: 'admin',
      summary: 'Get what the site uses, and its limits',
      query: UsageQuery,
      response: UsageView,
    },
  )
