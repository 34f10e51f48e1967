namespace Shapes {
  export const side = 3
  export namespace Deep {
    export const n = side * 2
  }
}
export default () => [Shapes.side, Shapes.Deep.n]
