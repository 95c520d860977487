/** The program of this machine. Throws where there is none: on other systems, or without optional dependencies. */
export const path: string;
/** The version of this package, which is the program's. */
export const version: string;
