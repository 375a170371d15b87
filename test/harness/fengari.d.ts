/** The part of fengari (Lua 5.3 in JavaScript) that test/harness/lua.ts uses. */
declare module 'fengari' {
  interface State {
    readonly lua: unique symbol;
  }
  export const to_luastring: (text: string) => Uint8Array;
  export const to_jsstring: (text: Uint8Array) => string;
  export const lauxlib: {
    luaL_newstate: () => State;
    luaL_requiref: (state: State, name: Uint8Array, open: unknown, global: number) => void;
    luaL_loadstring: (state: State, script: Uint8Array) => number;
  };
  export const lualib: { luaopen_base: unknown };
  export const lua: {
    LUA_OK: number;
    lua_createtable: (state: State, length: number, fields: number) => void;
    lua_rawset: (state: State, index: number) => void;
    lua_setglobal: (state: State, name: Uint8Array) => void;
    lua_getfield: (state: State, index: number, name: Uint8Array) => number;
    lua_pcall: (state: State, args: number, results: number, handler: number) => number;
    lua_pop: (state: State, count: number) => void;
    lua_pushnil: (state: State) => void;
    lua_pushboolean: (state: State, value: boolean) => void;
    lua_pushinteger: (state: State, value: number) => void;
    lua_pushnumber: (state: State, value: number) => void;
    lua_pushstring: (state: State, value: Uint8Array) => void;
    lua_tojsstring: (state: State, index: number) => string | null;
  };
}
