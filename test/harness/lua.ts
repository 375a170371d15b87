import { lauxlib, lua, lualib, to_luastring } from 'fengari';

type State = ReturnType<typeof lauxlib.luaL_newstate>;

/**
 * Runs a health script as Argo CD does: the object is the global `obj`, and only Lua's basic functions are there.
 * @returns what the table that it returns has for `status` and `message`
 * @throws with Lua's own message where the script fails
 */
export function luaHealth(script: string, obj: unknown): { status: string; message: string } {
  const state = lauxlib.luaL_newstate();
  lauxlib.luaL_requiref(state, to_luastring('_G'), lualib.luaopen_base, 1);
  push(state, obj);
  lua.lua_setglobal(state, to_luastring('obj'));
  const failed = lauxlib.luaL_loadstring(state, to_luastring(script)) !== lua.LUA_OK || lua.lua_pcall(state, 0, 1, 0) !== lua.LUA_OK;
  if (failed) throw new Error(`Lua: ${lua.lua_tojsstring(state, -1)}`);
  return { status: field(state, 'status'), message: field(state, 'message') };
}

/** Of the table on top of the stack. */
function field(state: State, name: string): string {
  lua.lua_getfield(state, -1, to_luastring(name));
  const value = lua.lua_tojsstring(state, -1);
  lua.lua_pop(state, 1);
  if (value === null) throw new Error(`Lua: the script gives no ${name}`);
  return value;
}

/** JSON as Lua sees it: null is nil, and lists begin with 1. */
function push(state: State, value: unknown): void {
  if (typeof value === 'string') return lua.lua_pushstring(state, to_luastring(value));
  if (typeof value === 'boolean') return lua.lua_pushboolean(state, value);
  if (typeof value === 'number') return Number.isInteger(value) ? lua.lua_pushinteger(state, value) : lua.lua_pushnumber(state, value);
  if (typeof value !== 'object' || value === null) return lua.lua_pushnil(state);
  lua.lua_createtable(state, 0, 0);
  for (const [key, item] of Object.entries(value).filter(([, one]) => one !== undefined && one !== null)) {
    push(state, Array.isArray(value) ? Number(key) + 1 : key);
    push(state, item);
    lua.lua_rawset(state, -3);
  }
}
