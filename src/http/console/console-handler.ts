import { programVersion } from '#config/program-version.ts'
import type { AppContext } from '#context'
import { routeNotFound } from '#http/plugins/errors.ts'
import { languageOf } from '#http/request-language.ts'
import type { RequestScope } from '#http/request-scope.ts'
import { siteBaseUrl } from '#sites/base-url.ts'
import type { SiteEntry } from '#sites/site-directory.ts'

import { LazyConsoleFiles } from './console-files.ts'
import { consolePage } from './console-page.ts'

/** Files of the console; on other hosts they are paths of the site. */
const FILES = '/-/'
/** What programs look for at each host, which is no screen. */
const NO_SCREEN = /^\/(?:\.well-known(?:\/|$)|favicon\.ico$|robots\.txt$)/

/** Answers on the host of a console what no route is for: its page at each path of a screen, and its files. */
export class ConsoleHandler {
  readonly #context: Pick<AppContext, 'config' | 'pools'>
  readonly #files: LazyConsoleFiles

  constructor(context: Pick<AppContext, 'config' | 'pools' | 'openConsole'>) {
    this.#context = context
    this.#files = new LazyConsoleFiles(context.openConsole)
  }

  /** For GET and HEAD. */
  async answer(request: Request, scope: RequestScope, site: SiteEntry): Promise<Response> {
    if (NO_SCREEN.test(scope.path)) throw routeNotFound()
    const files = await this.#files.get()
    const response = scope.path.startsWith(FILES)
      ? files.response(scope.path, request)
      : await this.#page(request, files, site)
    if (!response) throw routeNotFound()
    response.headers.set('x-request-id', scope.requestId)
    const { hsts } = this.#context.config
    if (hsts !== undefined) response.headers.set('strict-transport-security', hsts)
    return response
  }

  async #page(
    request: Request,
    { entry }: Awaited<ReturnType<LazyConsoleFiles['get']>>,
    site: SiteEntry,
  ): Promise<Response> {
    const { pools, config } = this.#context
    const { clientId, userPoolId } = (await pools.bootstrap(site)).auth
    const settings = {
      issuer: `${siteBaseUrl(config.baseUrl, site.host)}/oidc/${userPoolId}`,
      clientId,
      domain: site.domain,
      version: await programVersion(),
    }
    return consolePage(request, { settings, entry, language: languageOf(request) })
  }
}
