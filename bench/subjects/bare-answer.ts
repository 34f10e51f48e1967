import { type JobPayload, answer } from '#bench/json-job.ts'

/** What a server without sites, tokens, limits or a sandbox does with a request. */
export async function bareAnswer(request: Request): Promise<Response> {
  const { payload } = (await request.json()) as { readonly payload: JobPayload }
  const data = request.url.endsWith('/echo') ? payload : answer(payload)
  return Response.json({ ok: true, data })
}
