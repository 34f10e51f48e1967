/** Runs one load per key at a time and hands its result to all concurrent callers. */
export class SingleFlight<Key, Value> {
  readonly #flights = new Map<Key, Promise<Value>>()

  run(key: Key, load: () => Promise<Value>): Promise<Value> {
    const current = this.#flights.get(key)
    if (current) return current
    const flight = load().finally(() => this.#flights.delete(key))
    this.#flights.set(key, flight)
    return flight
  }
}
