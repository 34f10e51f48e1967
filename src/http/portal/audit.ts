import type { Static } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import { invalid } from '#base/app-error.ts'
import { parseTime } from '#base/parse-time.ts'
import type { AppContext } from '#context'
import { PageOf, PageQuery, answerPage } from '#http/paging.ts'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { canonicalEmail } from '#identity/email.ts'
import {
  SECURITY_EVENTS,
  type SecurityEventFilter,
  SecurityEventRecord,
} from '#identity/security-events/model.ts'

/** PostgreSQL takes no NUL. */
const Plain = t.String({ minLength: 1, maxLength: 254, pattern: '^[^\\u0000]*$' })

const Filter = t.Object({
  event: t.Optional(Plain),
  sub: t.Optional(Plain),
  email: t.Optional(Plain),
  since: t.Optional(t.String({ maxLength: 40 })),
  until: t.Optional(t.String({ maxLength: 40 })),
})

/** What happened to a site's accounts, newest first: for the operator only. */
export const portalAuditRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/audit' }).use(operatorAuth(context)).get(
    '/',
    async ({ site: { siteId }, query }) => {
      const { event, sub, email, since, until } = query
      const scope = [siteId, 'audit', JSON.stringify([event, sub, email, since, until])]
      return answerPage(context, { scope, query }, (page) =>
        context.securityEvents.list(siteId, parseFilter(query), page),
      )
    },
    {
      siteOperator: true,
      summary: 'List events of the audit trail',
      params: SitePath,
      query: t.Composite([Filter, PageQuery]),
      response: PageOf(SecurityEventRecord),
    },
  )

const parseFilter = ({
  event,
  sub,
  email,
  since,
  until,
}: Static<typeof Filter>): SecurityEventFilter => ({
  event: event === undefined ? undefined : parseEvent(event),
  sub,
  email: email === undefined ? undefined : canonicalEmail(email),
  since: parseTime('since', since),
  until: parseTime('until', until),
})

function parseEvent(text: string): SecurityEventFilter['event'] {
  const event = SECURITY_EVENTS.find((name) => name === text)
  if (!event) throw invalid('event', `must be one of ${SECURITY_EVENTS.join(', ')}`)
  return event
}
