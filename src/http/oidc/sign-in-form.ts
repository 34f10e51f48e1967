import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '#context'
import { publicSite } from '#http/plugins/site.ts'
import type { Site } from '#sites/site.ts'

import { hasCsrfToken, readSameOriginForm } from './csrf.ts'
import { EXPIRED_FORM, formErrorsOf } from './pages/form-errors.ts'
import { EMPTY_FORM, type FormState } from './pages/form.ts'
import { type PageName, type Visit, Visits } from './visit.ts'

/** One page of the sign-in: what it shows, and what its form does. */
export interface SignInForm {
  readonly name: PageName
  /** Why anyone may come. */
  readonly open: string
  /** Also shows the form again, with what was wrong. */
  show(visit: Visit, form: FormState): Response
  /** Fails with an `AppError` that the form can show, or with another one. */
  submit(visit: Visit, fields: URLSearchParams): Promise<Response>
}

const PoolPath = Type.Object({ userPoolId: Type.String({ maxLength: 128 }) })

/** GET and POST of one page. */
export const signInFormRoutes = (context: AppContext, form: SignInForm) => {
  const visits = new Visits(context)
  const open = async (
    site: Site,
    userPoolId: string,
    request: Request,
    answer: (visit: Visit) => Response | Promise<Response>,
  ): Promise<Response> => {
    const visit = await visits.open(site, userPoolId, request)
    return visit instanceof Response ? visit : answer(visit)
  }
  const prefix: string = `/oidc/:userPoolId/${form.name}`
  return new Elysia({ prefix })
    .use(publicSite(context))
    .get(
      '/',
      ({ site, params, request }) =>
        open(site, params.userPoolId, request, (visit) => form.show(visit, EMPTY_FORM)),
      { open: form.open, params: PoolPath },
    )
    .post(
      '/',
      ({ site, params, request }) =>
        open(site, params.userPoolId, request, (visit) => submitted(form, visit)),
      { open: form.open, params: PoolPath },
    )
}

async function submitted(form: SignInForm, visit: Visit): Promise<Response> {
  const fields = await readSameOriginForm(visit.request, new URL(visit.pool.issuer).origin)
  if (!hasCsrfToken(visit.csrf, fields))
    return form.show(visit, { typed: fields, errors: EXPIRED_FORM })
  try {
    return await form.submit(visit, fields)
  } catch (error) {
    return form.show(visit, { typed: fields, errors: formErrorsOf(error) })
  }
}
