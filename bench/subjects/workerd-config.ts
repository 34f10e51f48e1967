const DATE = '2026-11-01'

/** Modules that a worker's configuration embeds, by file name. `json-job.js` is the job's own text. */
export const WORKER_MODULES = {
  'job.js': `import { answer } from './json-job.js'

export default {
  async fetch(request) {
    const { payload } = await request.json()
    return Response.json({ ok: true, data: answer(payload) })
  },
}
`,
  'echo.js': `export default {
  async fetch(request) {
    const { payload } = await request.json()
    return Response.json({ ok: true, data: { text: payload.text } })
  },
}
`,
  'item.js': `export default {
  async fetch(request, { items }) {
    const { payload } = await request.json()
    const found = await items.fetch('http://items/item/' + payload.id)
    return Response.json({ ok: true, data: await found.json() })
  },
}
`,
  'router.js': `export default {
  fetch(request, workers) {
    return workers[new URL(request.url).hostname].fetch(request)
  },
}
`,
} as const

const WORKERS = {
  job: `(modules = [(name = "job.js", esModule = embed "job.js"), (name = "json-job.js", esModule = embed "json-job.js")], compatibilityDate = "${DATE}")`,
  echo: `(modules = [(name = "echo.js", esModule = embed "echo.js")], compatibilityDate = "${DATE}")`,
  item: `(modules = [(name = "item.js", esModule = embed "item.js")], compatibilityDate = "${DATE}", bindings = [(name = "items", service = "items")])`,
} as const

interface Served {
  readonly worker: keyof typeof WORKERS
  /** Another server that the worker may ask. */
  readonly itemsAddress?: string
}

/** One worker on one socket. `inherits`: the socket is the one that its parent opened. */
export const oneWorkerConfig = (
  { worker, itemsAddress }: Served,
  socket: 'opened' | 'inherited',
): string =>
  config(
    [
      `(name = "main", worker = ${WORKERS[worker]})`,
      ...(itemsAddress === undefined
        ? []
        : [`(name = "items", external = (address = "${itemsAddress}", http = ()))`]),
    ],
    socket,
  )

/** A worker for each host, behind one that looks at the host of a request and hands it on within the process. */
export function manyWorkersConfig(hosts: readonly string[]): string {
  const bindings = hosts.map((host) => `(name = "${host}", service = "${host}")`).join(', ')
  return config(
    [
      `(name = "main", worker = (modules = [(name = "router.js", esModule = embed "router.js")], compatibilityDate = "${DATE}", bindings = [${bindings}]))`,
      ...hosts.map((host) => `(name = "${host}", worker = ${WORKERS.job})`),
    ],
    'opened',
  )
}

const config = (services: readonly string[], socket: 'opened' | 'inherited'): string => {
  const address = socket === 'opened' ? 'address = "127.0.0.1:0", ' : ''
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [${services.join(', ')}],
  sockets = [(name = "http", ${address}http = (), service = "main")],
);
`
}
