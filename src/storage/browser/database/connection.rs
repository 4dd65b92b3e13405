//! The connection to the database: opened on first use, closed when another tab wants to upgrade
//! the schema, reopened afterwards. Every open has a timeout: one that another tab blocks ends in
//! an error. If the browser or another tab deleted or closed the database, the next call fails once
//! with an error, since data may be lost; the call after that opens the database again.

use std::cell::Cell;
use std::rc::{Rc, Weak};
use std::time::Duration;

use futures_util::future::{Either, select};
use js_sys::Function;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{IdbDatabase, IdbFactory, IdbOpenDbRequest, IdbTransaction, IdbVersionChangeEvent};

use crate::core::cell::RefCell;
use crate::core::error::{Error, Kind, Result};
use crate::core::lock::Mutex;
use crate::core::slot::Slot;
use crate::core::time::whole_millis;
use crate::env::dom;
use crate::env::{host, timer};
use crate::storage::browser::Durability;
use crate::storage::browser::database::schema::Rest;
use crate::storage::browser::database::transaction::{INSTEAD, Transaction, failed};
use crate::storage::browser::database::{schema, version1};

/// The access mode of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Read only.
    Read,
    /// Read and write.
    Write,
}

/// A connection to the database of that name.
pub struct Connection {
    name: String,
    durability: Durability,
    patience: Duration,
    opening: Mutex<()>,
    state: Rc<RefCell<State>>,
}

enum State {
    Closed,
    Open(Rc<Open>),
    /// The database was deleted or closed; the text says how.
    Lost(&'static str),
}

/// An open database. Dropping it closes the connection; transactions that have begun can still
/// finish.
struct Open {
    database: IdbDatabase,
    _version_change: Closure<dyn FnMut(IdbVersionChangeEvent)>,
    _close: Closure<dyn FnMut()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.database.set_onversionchange(None);
        self.database.set_onclose(None);
        self.database.close();
    }
}

impl Connection {
    /// A connection to that database; `patience` is the timeout of an open.
    pub fn new(name: &str, durability: Durability, patience: Duration) -> Connection {
        Connection {
            name: name.to_owned(),
            durability,
            patience,
            opening: Mutex::new(()),
            state: Rc::new(RefCell::new(State::Closed)),
        }
    }

    /// Begins a transaction over those object stores. The first request must follow immediately, or
    /// the transaction ends.
    pub async fn begin(&self, mode: Mode, stores: &[&str]) -> Result<Transaction> {
        let mut again = true;
        loop {
            let open = self.open().await?;
            match self.transaction(&open.database, mode, stores) {
                Ok(transaction) => return Ok(Transaction::new(transaction)),
                // The database was closed meanwhile; the next open reports why.
                Err(error) if again && host::name_of(&error) == "InvalidStateError" => {
                    again = false;
                    self.let_go(&open);
                }
                Err(error) if host::name_of(&error) == "NotFoundError" => {
                    return Err(strange(&self.name));
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }

    fn transaction(
        &self,
        database: &IdbDatabase,
        mode: Mode,
        stores: &[&str],
    ) -> std::result::Result<IdbTransaction, JsValue> {
        let names: js_sys::Array = stores.iter().map(|name| JsValue::from_str(name)).collect();
        let mode = match mode {
            Mode::Read => "readonly",
            Mode::Write => "readwrite",
        };
        let durability = match self.durability {
            Durability::Strict => "strict",
            Durability::Relaxed => "relaxed",
        };
        // Called by name, since web-sys does not have the overload with three arguments yet.
        let begin: Function =
            js_sys::Reflect::get(database, &JsValue::from_str("transaction"))?.dyn_into()?;
        begin
            .call3(
                database,
                &names,
                &JsValue::from_str(mode),
                &host::object(&[("durability", JsValue::from_str(durability))]),
            )
            .map(JsCast::unchecked_into)
    }

    fn let_go(&self, open: &Rc<Open>) {
        let mut state = self.state.borrow_mut();
        if matches!(&*state, State::Open(now) if Rc::ptr_eq(now, open)) {
            *state = State::Closed;
        }
    }

    async fn open(&self) -> Result<Rc<Open>> {
        if let State::Open(open) = &*self.state.borrow() {
            return Ok(open.clone());
        }
        let _turn = self.opening.lock().await;
        {
            let mut state = self.state.borrow_mut();
            match &*state {
                State::Open(open) => return Ok(open.clone()),
                State::Lost(why) => {
                    let why = *why;
                    *state = State::Closed;
                    return Err(Error::new(
                        Kind::Unavailable,
                        format!("The IndexedDB database '{}' {why}", self.name),
                    ));
                }
                State::Closed => {}
            }
        }
        let opening = Opening::begin(&self.name)?;
        let database = opening.wait(&self.name, self.patience).await?;
        let open = Rc::new(watched(database, Rc::downgrade(&self.state)));
        *self.state.borrow_mut() = State::Open(open.clone());
        Ok(open)
    }
}

/// Listens for events that invalidate an open database.
fn watched(database: IdbDatabase, state: Weak<RefCell<State>>) -> Open {
    let replace = move |state: &Weak<RefCell<State>>, new: State| {
        if let Some(state) = state.upgrade() {
            let before = state.replace(new);
            // Dropped outside of the borrow, since dropping it closes the database.
            drop(before);
        }
    };
    let held = state.clone();
    let version_change = Closure::<dyn FnMut(IdbVersionChangeEvent)>::new(
        move |event: IdbVersionChangeEvent| {
            let new = match event.new_version() {
                Some(_) => State::Closed,
                None => State::Lost(
                    "was deleted by another tab; what it held is gone. Call again to begin a new one",
                ),
            };
            replace(&held, new);
        },
    );
    let close = Closure::<dyn FnMut()>::new(move || {
        replace(
            &state,
            State::Lost(
                "was closed by the browser, which may have evicted what it held. Call again to go on with what is there",
            ),
        );
    });
    database.set_onversionchange(Some(version_change.as_ref().unchecked_ref()));
    database.set_onclose(Some(close.as_ref().unchecked_ref()));
    Open {
        database,
        _version_change: version_change,
        _close: close,
    }
}

/// A result of an open request.
enum Event {
    /// The database has version 1 of the schema; its records must be migrated now.
    CarryOver,
    /// The database is open.
    Opened,
    /// The open failed.
    Refused,
}

/// A pending open. If it is cancelled, a database that arrives later is closed.
struct Opening {
    request: IdbOpenDbRequest,
    happened: Slot<Event>,
    blocked: Rc<Cell<bool>>,
    strange: Rc<Cell<bool>>,
    taken: Cell<bool>,
    _listeners: [Closure<dyn FnMut(IdbVersionChangeEvent)>; 4],
}

impl Opening {
    fn begin(name: &str) -> Result<Opening> {
        let factory: IdbFactory = match dom::global("indexedDB") {
            Ok(Some(factory)) => factory.unchecked_into(),
            Ok(None) => {
                return Err(Error::new(
                    Kind::Unavailable,
                    format!("There is no IndexedDB (globalThis.indexedDB) here. {INSTEAD}."),
                ));
            }
            Err(thrown) => return Err(refused(thrown)),
        };
        let request = factory
            .open_with_u32(name, schema::VERSION)
            .map_err(refused)?;
        let happened: Slot<Event> = Slot::default();
        let blocked = Rc::new(Cell::new(false));
        let strange = Rc::new(Cell::new(false));
        let answer = |event: fn() -> Event| {
            let happened = happened.clone();
            Closure::<dyn FnMut(IdbVersionChangeEvent)>::new(move |_| happened.fill(event()))
        };
        let (success, error) = (answer(|| Event::Opened), answer(|| Event::Refused));
        let block = {
            let blocked = blocked.clone();
            Closure::<dyn FnMut(IdbVersionChangeEvent)>::new(move |_| blocked.set(true))
        };
        let upgrade = {
            let (request, happened, strange) = (request.clone(), happened.clone(), strange.clone());
            Closure::<dyn FnMut(IdbVersionChangeEvent)>::new(move |event: IdbVersionChangeEvent| {
                let Some(transaction) = request.transaction() else {
                    return;
                };
                let rest = request.result().and_then(|database| {
                    // A float-to-integer cast saturates.
                    let from = event.old_version() as u32;
                    schema::prepare(database.unchecked_ref(), &transaction, from)
                });
                match rest {
                    Ok(Rest::Nothing) => {}
                    Ok(Rest::Version1) => happened.fill(Event::CarryOver),
                    Ok(Rest::Strange) => {
                        strange.set(true);
                        let _ = transaction.abort();
                    }
                    Err(_) => {
                        let _ = transaction.abort();
                    }
                }
            })
        };
        request.set_onsuccess(Some(success.as_ref().unchecked_ref()));
        request.set_onerror(Some(error.as_ref().unchecked_ref()));
        request.set_onblocked(Some(block.as_ref().unchecked_ref()));
        request.set_onupgradeneeded(Some(upgrade.as_ref().unchecked_ref()));
        Ok(Opening {
            request,
            happened,
            blocked,
            strange,
            taken: Cell::new(false),
            _listeners: [success, error, block, upgrade],
        })
    }

    async fn wait(&self, name: &str, patience: Duration) -> Result<IdbDatabase> {
        let happened = Box::pin(self.happened.wait());
        let event = match select(happened, timer::sleep(patience)).await {
            // The upgrade is running now and no longer blocked by other tabs, so there is no
            // timeout here.
            Either::Left((Event::CarryOver, _)) => {
                self.carry_over().await?;
                self.happened.wait().await
            }
            Either::Left((event, _)) => event,
            Either::Right(_) => {
                let waited = whole_millis(patience);
                let why = if self.blocked.get() {
                    "another tab holds an older version of it open; close that tab or reload it"
                } else {
                    "the browser did not answer; try again, or reload the page"
                };
                return Err(Error::new(
                    Kind::Unavailable,
                    format!(
                        "The IndexedDB database '{name}' could not be opened within {waited} ms: {why}"
                    ),
                ));
            }
        };
        self.taken.set(true);
        if matches!(event, Event::Opened) {
            let database = self.request.result().map_err(refused)?;
            return Ok(database.unchecked_into());
        }
        if self.strange.get() {
            return Err(strange(name));
        }
        let error = self.request.error().ok().flatten();
        Err(refused(error.map_or(JsValue::UNDEFINED, JsValue::from)))
    }

    /// Migrates version 1. If the call is cancelled meanwhile, the transaction is aborted and the
    /// database stays unchanged.
    async fn carry_over(&self) -> Result<()> {
        let database = self.request.result().map_err(refused)?;
        let Some(transaction) = self.request.transaction() else {
            return Err(Error::internal("An upgrade has no transaction"));
        };
        let transaction = Transaction::new(transaction);
        version1::carry_over(database.unchecked_ref(), &transaction).await?;
        transaction.commit().await
    }
}

/// The error for a database that was created by other software.
fn strange(name: &str) -> Error {
    Error::new(
        Kind::Unavailable,
        format!(
            "The IndexedDB database '{name}' was made by something else than kitbag; choose another name for it"
        ),
    )
}

impl Drop for Opening {
    fn drop(&mut self) {
        let request = &self.request;
        request.set_onsuccess(None);
        request.set_onerror(None);
        request.set_onblocked(None);
        request.set_onupgradeneeded(None);
        if self.taken.get() {
            return;
        }
        let late = request.clone();
        let close = Closure::once_into_js(move || {
            if let Ok(database) = late.result() {
                database.unchecked_into::<IdbDatabase>().close();
            }
        });
        request.set_onsuccess(Some(close.unchecked_ref()));
        let late = request.clone();
        let abort = Closure::once_into_js(move || {
            if let Some(transaction) = late.transaction() {
                let _ = transaction.abort();
            }
        });
        request.set_onupgradeneeded(Some(abort.unchecked_ref()));
    }
}

fn refused(exception: JsValue) -> Error {
    dom::failure("IndexedDB could not be opened", INSTEAD, exception)
}
