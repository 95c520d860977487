import assert from "node:assert";
import test from "node:test";

import { slug } from "../slug.js";

test("blanks become dashes", () => assert.equal(slug("Two Words"), "two-words"));
