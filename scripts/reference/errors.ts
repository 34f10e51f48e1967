import { type ErrorCode, statusOf } from '#base/error-status.ts'

import { ERROR_CAUSES } from './error-causes.ts'
import { COGNITO_CAUSES, type CauseAndCure, OAUTH_CAUSES, OTHER_CAUSES } from './other-errors.ts'

const INTRO = `# Error codes

The body of an error is \`{"error":{"code":"…","message":"…","requestId":"…"}}\`, with \`"ok":false\` at \`/data\`. The message names the thing and says what to do; further
fields depend on the code. \`requestId\`, also in \`X-Request-Id\`, finds the lines of the log. In site code, \`statusCode\` of an error is the status below.
A function may throw codes of its own, with a status from 400 to 499.
`

/** The page of every code that the service responds with. */
export function errorsPage(): string {
  const byStatus = new Map<number, string[]>()
  const codes = Object.entries(ERROR_CAUSES) as [ErrorCode, CauseAndCure][]
  for (const [code, text] of codes) {
    const status = statusOf({ code, thrown: undefined })
    byStatus.set(status, [...(byStatus.get(status) ?? []), lineOf([code, text])])
  }
  const statuses = [...byStatus].toSorted(([a], [b]) => a - b)
  return [
    INTRO,
    ...statuses.map(([status, lines]) => section(String(status), lines)),
    section('Other places', Object.entries(OTHER_CAUSES).map(lineOf)),
    section('OAuth and OpenID Connect', Object.entries(OAUTH_CAUSES).map(lineOf)),
    section('Amazon Cognito’s API', Object.entries(COGNITO_CAUSES).map(lineOf)),
  ].join('\n')
}

const section = (heading: string, lines: readonly string[]): string =>
  `## ${heading}\n\n${lines.join('\n')}\n`

const lineOf = ([code, [cause, cure]]: readonly [string, CauseAndCure]): string =>
  `- **\`${code}\`**: ${cause} ${cure}`
