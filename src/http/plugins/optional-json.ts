import { Elysia } from 'elysia'

import { parseJson, textOf } from './json-body.ts'

/**
 * `optionalJson: true` on a route, after its authority: all fields may be left out, and with them the body. Elysia takes a
 * broken optional body for none, and one without a content type too: then a mistyped list of a few would mean everybody.
 */
export const optionalJson = () =>
  new Elysia({ name: 'optional-json' }).macro({
    optionalJson: (_on: true) => ({ parse: readOptional }),
  })

async function readOptional({ request }: { readonly request: Request }): Promise<unknown> {
  const text = await textOf(request)
  return text.trim() === '' ? {} : parseJson(text)
}
