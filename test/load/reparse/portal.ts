import { request } from '#test/http-client.ts'

/** What the operator asks of a service. */
export interface Portal {
  get<Answer>(path: string): Promise<Answer>
  post(path: string, body: object): Promise<void>
}

export function portalAt(port: number, operatorKey: string): Portal {
  const call = async (method: string, path: string, body?: object) => {
    const answer = await request({
      port,
      host: 'localhost',
      method,
      path: `/portal/api${path}`,
      headers: { authorization: `Bearer ${operatorKey}` },
      ...(body && { body }),
    })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }
  return {
    get: async (path) => (await call('GET', path)).json,
    post: async (path, body) => void (await call('POST', path, body)),
  }
}
