import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'

/**
 * `optionalJson: true` on a route, after its authority: all fields may be left out, and with them the body. Elysia takes a
 * broken optional body for none, and one without a content type too: then a mistyped list of a few would mean everybody.
 */
export const optionalJson = () =>
  new Elysia({ name: 'optional-json' }).macro({
    optionalJson: (_on: true) => ({ parse: readOptional }),
  })

async function readOptional({ request }: { readonly request: Request }): Promise<unknown> {
  const text = await request.text()
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new AppError('InvalidJson', 'The request body is not valid JSON', { cause: error })
  }
}
