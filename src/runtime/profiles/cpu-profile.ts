import { Type, type Static } from '@sinclair/typebox'

import type { CallStretch } from '#platform/sandbox-host/sandbox.ts'

/** Names of scripts that are ours. */
const OURS = /^croft:|^<isolated-vm/
const RUNTIME = '(runtime)'
/** The depth to which the tree goes: deeper frames count as their ancestor there. */
const MAX_DEPTH = 128

/** What Chrome DevTools opens as a `.cpuprofile`: `Profiler.Profile` of its protocol. Times in microseconds. */
export const CpuProfile = Type.Object(
  {
    nodes: Type.Array(
      Type.Object({
        id: Type.Integer(),
        callFrame: Type.Object({
          functionName: Type.String(),
          scriptId: Type.String(),
          url: Type.String(),
          lineNumber: Type.Integer({ description: 'from 0; -1 where there is none' }),
          columnNumber: Type.Integer({ description: 'from 0; -1 where there is none' }),
        }),
        hitCount: Type.Integer(),
        children: Type.Array(Type.Integer()),
      }),
    ),
    startTime: Type.Number(),
    endTime: Type.Number(),
    samples: Type.Array(Type.Integer({ description: 'the id of the node that was running' })),
    timeDeltas: Type.Array(Type.Number({ description: 'since the sample before' })),
  },
  { title: 'CpuProfile' },
)
export type CpuProfile = Static<typeof CpuProfile>

/** Where code was written, both from 1. */
interface Written {
  readonly path: string
  readonly line: number
  readonly column: number
}

interface Frame {
  readonly functionName: string
  readonly url: string
  /** From 0; -1 where there is none. */
  readonly line: number
  readonly column: number
}

interface TreeNode {
  readonly id: number
  readonly frame: Frame
  readonly depth: number
  readonly children: Map<string, TreeNode>
  hits: number
}

const nowhere = (functionName: string): Frame => ({ functionName, url: '', line: -1, column: -1 })

/** Builds one profile of the stretches of calls, in the order in which they ran; what is between them is idle. */
export class CpuProfileBuilder {
  readonly #written: (place: Written) => Written
  readonly #nodes: TreeNode[] = []
  readonly #root = this.#add(nowhere('(root)'), 0)
  readonly #idle = this.#childOf(this.#root, nowhere('(idle)'))
  readonly #samples: number[] = []
  readonly #deltas: number[] = []
  #startTime = 0
  #lastTime = 0

  /** `written` says of a place where it was written: the same place, for most. */
  constructor(written: (place: Written) => Written) {
    this.#written = written
  }

  get sampleCount(): number {
    return this.#samples.length
  }

  add({ startTime, endTime, samples, offsets, nodes }: CallStretch): void {
    if (this.#startTime === 0) this.#startTime = this.#lastTime = startTime
    else this.#sample(this.#idle, startTime)
    const merged = this.#merge(nodes)
    for (const [index, id] of samples.entries()) {
      this.#sample(merged.get(id) ?? this.#root, startTime + (offsets[index] ?? 0))
    }
    this.#lastTime = Math.max(this.#lastTime, endTime)
  }

  profile(): CpuProfile {
    return {
      nodes: this.#nodes.map(({ id, frame, hits, children }) => ({
        id,
        callFrame: {
          functionName: frame.functionName,
          scriptId: '0',
          url: frame.url,
          lineNumber: frame.line,
          columnNumber: frame.column,
        },
        hitCount: hits,
        children: [...children.values()].map((child) => child.id),
      })),
      startTime: this.#startTime,
      endTime: this.#lastTime,
      samples: this.#samples,
      timeDeltas: this.#deltas,
    }
  }

  /** The tree's nodes by the ids of a stretch's. */
  #merge(nodes: CallStretch['nodes']): ReadonlyMap<number, TreeNode> {
    const byId = new Map(nodes.map((node) => [node.id, node]))
    const merged = new Map<number, TreeNode>()
    const [first] = nodes
    const open = first ? [{ node: first, place: this.#root }] : []
    for (let next = open.pop(); next; next = open.pop()) {
      merged.set(next.node.id, next.place)
      for (const id of next.node.children) {
        const node = byId.get(id)
        // A node has one parent: what a hostile worker says twice is taken once.
        if (!node || merged.has(id)) continue
        open.push({ node, place: this.#childOf(next.place, this.#frameOf(node)) })
      }
    }
    return merged
  }

  #frameOf({ functionName, url, line, column }: CallStretch['nodes'][number]): Frame {
    if (OURS.test(url)) return nowhere(RUNTIME)
    if (url === '') return nowhere(functionName)
    const place = this.#written({ path: url, line, column })
    return { functionName, url: place.path, line: place.line - 1, column: place.column - 1 }
  }

  /** Ours below ours is one: whatever it does inside is its own business. */
  #childOf(parent: TreeNode, frame: Frame): TreeNode {
    const isOurs = frame.functionName === RUNTIME && frame.url === ''
    if (parent.depth === MAX_DEPTH || (isOurs && parent.frame.functionName === RUNTIME))
      return parent
    const key = `${frame.functionName} ${frame.url}:${frame.line}:${frame.column}`
    const known = parent.children.get(key)
    if (known) return known
    const child = this.#add(frame, parent.depth + 1)
    parent.children.set(key, child)
    return child
  }

  #add(frame: Frame, depth: number): TreeNode {
    const node = { id: this.#nodes.length + 1, frame, depth, children: new Map(), hits: 0 }
    this.#nodes.push(node)
    return node
  }

  #sample(node: TreeNode, time: number): void {
    node.hits += 1
    this.#samples.push(node.id)
    this.#deltas.push(Math.max(0, time - this.#lastTime))
    this.#lastTime = Math.max(this.#lastTime, time)
  }
}
