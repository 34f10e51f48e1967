export default async () => {
  class A {
    #x = 1
    static has(o) {
      return #x in o
    }
    get x() {
      return this.#x
    }
  }
  return [A.has(new A()), A.has({}), new A().x]
}
