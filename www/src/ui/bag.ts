// The mark of kitbag, in a box of 16 by 16: in the header of the playground and of the documentation.

export const BAG = "M5 5V3.5a3 3 0 0 1 6 0V5h2l1 9H2l1-9z M6.5 5h3V3.5a1.5 1.5 0 0 0-3 0z";
