/** A cache that drops the least recently used value first. */
export type Lru<Key, Value> = (key: Key, make: () => Value) => Value

/** `weigh` returns how much of `capacity` a value takes; larger values are not stored. */
export function createLru<Key, Value>(
  capacity: number,
  weigh: (value: Value) => number,
): Lru<Key, Value> {
  const values = new Map<Key, Value>()
  let weight = 0
  const drop = (key: Key, value: Value): void => {
    values.delete(key)
    weight -= weigh(value)
  }
  return (key, make) => {
    const found = values.get(key)
    const value = found ?? make()
    if (found !== undefined) drop(key, found)
    values.set(key, value)
    weight += weigh(value)
    for (const [oldKey, oldValue] of values) {
      if (weight <= capacity) break
      drop(oldKey, oldValue)
    }
    return value
  }
}
