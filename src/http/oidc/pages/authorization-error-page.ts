import { scopeOf } from '#http/request-scope.ts'
import type { Site } from '#sites/site.ts'

import { noticePage } from './notice-page.ts'

/** For a client's request that cannot go back to the client: whoever sent the visitor here made a mistake. */
export const authorizationErrorPage = (
  site: Site,
  refusal: { readonly error: string; readonly description: string },
  request: Request,
): Response =>
  noticePage({
    title: 'This sign-in cannot go on',
    site,
    tone: 'bad',
    text: [
      'The application that sent you here asked for something that is not allowed. Go back to it and try again.',
    ],
    reference: [
      `${refusal.error}: ${refusal.description}`,
      `Request ${scopeOf(request).requestId}`,
    ],
    status: 400,
  })
