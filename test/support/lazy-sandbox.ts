import { SandboxActivity } from '#platform/sandbox-host/sandbox-activity.ts'
import type {
  CallOutcome,
  ComputeJob,
  ComputeOutcome,
  LoadJob,
  PreparedFunction,
  Program,
  Sandbox,
  SandboxStatus,
  SiteCalls,
} from '#platform/sandbox-host/sandbox.ts'

const ASLEEP: SandboxStatus = {
  ready: false,
  hosts: [],
  walls: [],
  warmIsolates: 0,
  running: 0,
  suspended: 0,
  queued: 0,
  activity: new SandboxActivity(),
}

/** The real sandbox, whose processes start with the first site code: most tests run none. */
export class LazySandbox implements Sandbox {
  readonly #start: () => Promise<Sandbox>
  #starting: Promise<Sandbox> | undefined
  #awake: Sandbox | undefined

  constructor(start: () => Promise<Sandbox>) {
    this.#start = start
  }

  async call(...call: Parameters<Sandbox['call']>): Promise<CallOutcome> {
    return (await this.#sandbox()).call(...call)
  }

  begin(...[call, target, ended]: Parameters<Sandbox['begin']>): void {
    if (this.#awake) this.#awake.begin(call, target, ended)
    else void this.call(call, target.program, target.functionId).then(ended)
  }

  async profile(...call: Parameters<Sandbox['profile']>): Promise<CallOutcome> {
    return (await this.#sandbox()).profile(...call)
  }

  async compute(job: ComputeJob): Promise<ComputeOutcome> {
    return (await this.#sandbox()).compute(job)
  }

  async load(job: LoadJob): Promise<CallOutcome> {
    return (await this.#sandbox()).load(job)
  }

  async prepare(...asked: Parameters<Sandbox['prepare']>): Promise<PreparedFunction> {
    return (await this.#sandbox()).prepare(...asked)
  }

  callsOf(siteId: string): SiteCalls {
    return this.#awake?.callsOf(siteId) ?? { running: 0, suspended: 0, queued: 0 }
  }

  async finishWork(deadlineMs: number): Promise<void> {
    await this.#awake?.finishWork(deadlineMs)
  }

  retire(program: Program): void {
    this.#awake?.retire(program)
  }

  status(): SandboxStatus {
    return this.#awake?.status() ?? ASLEEP
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#starting)?.[Symbol.asyncDispose]()
  }

  async #sandbox(): Promise<Sandbox> {
    this.#starting ??= this.#start()
    this.#awake ??= await this.#starting
    return this.#awake
  }
}
