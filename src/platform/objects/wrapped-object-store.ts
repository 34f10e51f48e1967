import type { ObjectStore } from './object-store.ts'

/** Another store as it is. Who extends it does some things otherwise. */
export abstract class WrappedObjectStore implements ObjectStore {
  readonly bounds: ObjectStore['bounds']
  protected readonly store: ObjectStore

  constructor(store: ObjectStore) {
    this.store = store
    this.bounds = store.bounds
  }

  put(...request: Parameters<ObjectStore['put']>): ReturnType<ObjectStore['put']> {
    return this.store.put(...request)
  }

  get(...request: Parameters<ObjectStore['get']>): ReturnType<ObjectStore['get']> {
    return this.store.get(...request)
  }

  blob(...request: Parameters<ObjectStore['blob']>): ReturnType<ObjectStore['blob']> {
    return this.store.blob(...request)
  }

  head(...request: Parameters<ObjectStore['head']>): ReturnType<ObjectStore['head']> {
    return this.store.head(...request)
  }

  delete(...request: Parameters<ObjectStore['delete']>): ReturnType<ObjectStore['delete']> {
    return this.store.delete(...request)
  }

  copy(...request: Parameters<ObjectStore['copy']>): ReturnType<ObjectStore['copy']> {
    return this.store.copy(...request)
  }

  list(...request: Parameters<ObjectStore['list']>): ReturnType<ObjectStore['list']> {
    return this.store.list(...request)
  }

  presignGet(
    ...request: Parameters<ObjectStore['presignGet']>
  ): ReturnType<ObjectStore['presignGet']> {
    return this.store.presignGet(...request)
  }

  presignPut(
    ...request: Parameters<ObjectStore['presignPut']>
  ): ReturnType<ObjectStore['presignPut']> {
    return this.store.presignPut(...request)
  }

  ping(): Promise<void> {
    return this.store.ping()
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.store[Symbol.asyncDispose]()
  }
}
