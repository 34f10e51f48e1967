import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import type { AppContext } from '#context'
import { SitePath } from '#http/path-params.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import { MailFinding, type MailFindingsPage } from '#mail/verification/model.ts'
import type { Site } from '#sites/site.ts'

const NextToken = t.Optional(t.String({ maxLength: 2048 }))

const Findings = Type.Object({ checked: Type.Integer(), findings: Type.Array(MailFinding) })
const FindingsPage = Type.Composite([
  Findings,
  Type.Object({ nextToken: Type.Union([Type.String(), Type.Null()]) }),
])

/** Whether a site's mail is stored as it should be. Changes nothing; looks at all of it, page by page. */
export const portalMailVerificationRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/portal/api/sites/:siteId/mail-verification' })
    .use(operatorAuth(context))
    .get('/rows', async ({ site }) => context.mailVerification.rows(site), {
      siteOperator: true,
      summary: 'Verify the rows of messages',
      params: SitePath,
      response: Findings,
    })
    .get(
      '/messages',
      async ({ site, query: { nextToken, bytes } }) => {
        const asked = { site, part: 'messages', nextToken } as const
        return answerFindings(context, asked, (after) =>
          context.mailVerification.messages(site, { after, reading: bytes === true }),
        )
      },
      {
        siteOperator: true,
        summary: 'Verify parsed messages',
        params: SitePath,
        query: t.Object({ nextToken: NextToken, bytes: t.Optional(t.Boolean()) }),
        response: FindingsPage,
      },
    )
    .get(
      '/objects',
      async ({ site, query: { nextToken } }) =>
        answerFindings(context, { site, part: 'objects', nextToken }, (after) =>
          context.mailVerification.objects(site, after),
        ),
      {
        siteOperator: true,
        summary: 'Verify the objects of messages',
        params: SitePath,
        query: t.Object({ nextToken: NextToken }),
        response: FindingsPage,
      },
    )

async function answerFindings(
  { pageTokens }: AppContext,
  asked: {
    readonly site: Site
    readonly part: 'messages' | 'objects'
    readonly nextToken: string | undefined
  },
  find: (after: string | undefined) => Promise<MailFindingsPage>,
) {
  const scope = [asked.site.siteId, 'operator', 'mail-verification', asked.part]
  const { nextToken } = asked
  const after = nextToken === undefined ? undefined : pageTokens.open(scope, nextToken)
  const { checked, findings, lastKey } = await find(after)
  return { checked, findings, nextToken: pageTokens.seal(scope, lastKey) }
}
