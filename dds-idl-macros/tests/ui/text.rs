dds_idl_macros::idl! {
    struct Pose {
        duble x;
        long x;
    };
}

dds_idl_macros::idl! {
    #![color = "red"]
    struct A { long a; };
}

fn main() {}
