import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { CroftProcess } from './croft-process.ts'
import type { Answer } from './http-client.ts'

/** What an operator does over the wire, with the key of the data folder unless another is given. */
export function portalOf(croft: CroftProcess, operatorKey?: string) {
  const key = async (): Promise<string> =>
    operatorKey ?? (await readFile(join(croft.dataDir, 'operator.key'), 'utf8')).trim()

  const call = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await croft.call({
      method,
      path: `/portal/api${path}`,
      headers: { authorization: `Bearer ${await key()}` },
      ...(body === undefined ? {} : { body }),
    })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer
  }

  return {
    async sites(): Promise<{ siteId: string; domain: string }[]> {
      return (await call('GET', '/sites')).json.items
    },

    createSite: (domain: string) =>
      call('POST', '/sites', { domain, superAdmins: [`ann@${domain}`] }),

    setUpGoogle: (domain: string, settings: object) =>
      call('PUT', `/sites/${domain}/auth/providers/google`, settings),

    /** A public operation without a cache, made by the site's super-admin. */
    async createOperation(
      domain: string,
      operation: string,
      code: string,
      user = `ann@${domain}`,
    ): Promise<void> {
      const admin = await this.admin(domain, user)
      const resource = await admin('POST', '/admin/data/resources', {
        type: 'lambdaFunction',
        name: operation,
        config: { code, timeoutSeconds: 10 },
      })
      const { resourceId } = resource.json
      await admin('POST', '/admin/data/operations', {
        operation,
        lambdaResourceId: resourceId,
        auth: { mode: 'public' },
      })
    },

    async token(domain: string, user: string): Promise<string> {
      return (await call('POST', `/sites/${domain}/tokens`, { user, pool: 'admin' })).json.token
    },

    /** Calls as the site's super-admin, or as another user of its admin pool. */
    async admin(domain: string, user = `ann@${domain}`) {
      const token = await this.token(domain, user)
      return async (method: string, path: string, body?: unknown): Promise<Answer> => {
        const headers = { authorization: `Bearer ${token}` }
        const answer = await croft.call({
          host: domain,
          method,
          path,
          headers,
          ...(body === undefined ? {} : { body }),
        })
        if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
        return answer
      }
    },
  }
}
