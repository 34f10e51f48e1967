import type { CroftProcess } from '#bench/croft/croft-process.ts'
import { jsonCall } from '#bench/http-call.ts'

interface PublishedFunction {
  readonly name: string
  readonly code: string
  readonly http?: boolean
}

/** Makes a site whose functions are public operations of the same names. */
export async function publish(
  croft: CroftProcess,
  domain: string,
  functions: readonly PublishedFunction[],
): Promise<void> {
  const owner = `ann@${domain}`
  await croft.command('site', 'create', domain, '--super-admin', owner)
  const { token } = await croft.command<{ token: string }>('token', domain, '--user', owner)
  const call = <Answer>(path: string, body: object) =>
    jsonCall<Answer>({ origin: croft.origin, host: domain, method: 'POST', path, token, body })
  for (const { name, code, http = false } of functions) {
    const { resourceId } = await call<{ resourceId: string }>('/admin/data/resources', {
      type: 'lambdaFunction',
      name,
      config: { code, timeoutSeconds: 900 },
    })
    await call('/admin/data/operations', {
      operation: name,
      lambdaResourceId: resourceId,
      auth: { mode: 'public' },
      http,
    })
  }
}
