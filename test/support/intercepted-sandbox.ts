import { loadConfig } from '#config/load.ts'
import { SandboxHosts } from '#platform/sandbox-host/sandbox-hosts.ts'
import { loadGuestScripts } from '#platform/sandbox-host/sandbox-programs.ts'
import type { CallOutcome, Sandbox, SandboxEnvironment } from '#platform/sandbox-host/sandbox.ts'

import { silentLog } from './silent-log.ts'

type RunCall = Sandbox['call']

/** Opens the real sandbox with an interceptor, which sees each call and may answer it. */
export const interceptedSandbox =
  (
    cacheDir: string,
    intercept: (
      call: Parameters<RunCall>[0],
      run: () => ReturnType<RunCall>,
    ) => ReturnType<RunCall>,
  ) =>
  async (environment: SandboxEnvironment): Promise<Sandbox> => {
    const sandbox = await SandboxHosts.start({
      config: loadConfig({ CROFT_DATA_DIR: cacheDir }).config.sandbox,
      environment,
      logger: silentLog,
      cacheDir,
      scripts: await loadGuestScripts(),
    })
    const run = sandbox.call.bind(sandbox)
    const begin = sandbox.begin.bind(sandbox)
    sandbox.call = (...asked) => intercept(asked[0], () => run(...asked))
    sandbox.begin = (call, target, ended) => {
      const begun = () => new Promise<CallOutcome>((resolve) => begin(call, target, resolve))
      void intercept(call, begun).then(ended)
    }
    return sandbox
  }
