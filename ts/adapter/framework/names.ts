// Names as a model sees and writes them.

import { visibleName } from "kitbag";

const CODE = /\\u\{([0-9a-f]{1,6})\}/gi;

/** The name behind one that `visibleName` has shown: no name has a backslash. */
export function meant(name: string): string {
  return name.replace(CODE, (code, digits: string) => {
    const number = Number.parseInt(digits, 16);
    const one = number <= 0x10ffff ? String.fromCodePoint(number) : "";
    return one === visibleName(one) ? code : one;
  });
}
