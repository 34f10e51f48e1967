import { mapDelete, mapForEach, mapGet, mapSet, mapSize } from '#sandbox/guest/web/primordials.ts'

/** A Map whose methods site code cannot reach. */
export class SafeMap<Value> {
  readonly #map = new Map<number | string, Value>()

  get(key: number | string): Value | undefined {
    return mapGet(this.#map, key) as Value | undefined
  }
  set(key: number | string, value: Value): void {
    mapSet(this.#map, key, value)
  }
  delete(key: number | string): void {
    mapDelete(this.#map, key)
  }
  forEach(visit: (value: Value) => void): void {
    mapForEach(this.#map, visit as (value: unknown) => void)
  }
  get size(): number {
    return mapSize(this.#map)
  }
}
