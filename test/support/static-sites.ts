import type { DeployDesk, SiteFiles } from './deploy-desk.ts'
import type { Answer } from './http-client.ts'
import type { Stack } from './stack.ts'

/** A browser's navigation. */
export const PAGE = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' }

/** A site of its own for each test, which is asked as browsers do. */
export class StaticDesk {
  readonly #stack: Stack
  readonly #desk: DeployDesk
  #made = 0

  constructor(stack: Stack, desk: DeployDesk) {
    this.#stack = stack
    this.#desk = desk
  }

  /** Files are those of `public/`; those whose path begins with `/` are the artifact's. */
  async site(files: SiteFiles, settings?: object): Promise<string> {
    this.#made += 1
    const host = `static-${this.#made}.test`
    await this.#stack.createSite({ domain: host, superAdmins: [`ann@${host}`] })
    await this.deploy(host, files, settings)
    return host
  }

  deploy(host: string, files: SiteFiles, settings?: object): Promise<string> {
    return this.#desk.deploy(host, artifact(files, settings))
  }

  /** What activating answers. */
  async tried(host: string, files: SiteFiles, settings?: object): Promise<Answer> {
    const deploymentId = await this.#desk.upload(host, artifact(files, settings))
    return this.#stack.portal('POST', `/sites/${host}/deployments/${deploymentId}/activate`)
  }

  get(host: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#stack.call(host, 'GET', path, { headers })
  }
}

const artifact = (files: SiteFiles, settings?: object): SiteFiles => ({
  'croft.json': JSON.stringify(settings === undefined ? {} : { static: settings }),
  ...Object.fromEntries(
    Object.entries(files).map(([path, text]) => [
      path.startsWith('/') ? path.slice(1) : `public/${path}`,
      text,
    ]),
  ),
})
